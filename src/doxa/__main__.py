"""`python -m doxa` is the command `doxa`."""

from doxa.transport.cli import main

if __name__ == "__main__":
    main()

"""transport: request -> engine call.

One package per way in; so far the command line, `doxa.transport.cli`.
"""

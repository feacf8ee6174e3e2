"""integrations: a framework's contract -> engine call.

One module for each framework, named after it; it imports the framework and nothing else here does, so that installing
Doxa brings none of them. What a contract cannot say (revision, two time axes, why) is reached through `.doxa`.
"""

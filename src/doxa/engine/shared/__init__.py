"""shared: a user's memory + those that everybody reads -> whose each thing is, and what of it counts for this user.

`layers` fetches what ids of shared memories stand for, `hiding` compares two memories, `aside` notes what a user does
not let count. No lock is ever held on two memories: what one gives is compared in the other afterwards.
"""

"""archives: what another memory, a chat program or a messenger gives out -> turns.

One module for each kind; `reading` tells them apart by their content. A turn keeps the id, the date and the source
that it had there (`Line.origin`), and what cannot be carried is counted (`Transcript.left`).
"""

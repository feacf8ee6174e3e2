"""Products of numpy on one core, where models run beside them.

The threads of OpenBLAS go on spinning for some 25 ms after each product, on the very cores that the next call of a
model needs: on two cores, an NLI model that is called between products takes half as long again.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property

from threadpoolctl import ThreadpoolController

__all__ = ["on_one_core"]


class _Limit:
    """Counts who wants one core; the last one to leave gives the others back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._held = ExitStack()

    @cached_property
    def _libraries(self) -> ThreadpoolController:
        """The linear algebra that is loaded at first use: that of numpy."""
        return ThreadpoolController()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Keep the linear algebra of this process on one core: as a context, or as a decorator of a function.

        It may be entered by several threads, and again inside. Cost: some 0.1 ms for the outermost one.
        """
        with self._lock:
            if not self._inside:
                self._held.enter_context(self._libraries.limit(limits=1, user_api="blas"))
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if not self._inside:
                    self._held.close()


on_one_core = _Limit()

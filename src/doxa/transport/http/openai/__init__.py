"""openai: a request as OpenAI has it -> the answer of an upstream, with memory beside the user's words.

`routes.py` holds the paths; `exchange.py` is one request of a conversation, `beside.py` what is put beside which
message, `hearing.py` what is remembered of it, `steering.py` what is done with a reply that contradicts the memory;
`builtin.py` and `stored.py` answer where there is no upstream.
"""

from doxa.transport.http.openai.errors import openai_shape
from doxa.transport.http.openai.routes import router

__all__ = ["openai_shape", "router"]

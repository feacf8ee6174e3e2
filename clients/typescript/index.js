/** A typed client of Doxa: the paths of its OpenAPI page, with `fetch` underneath. */

import createClient from "openapi-fetch";

/** Return a client of the memory of one user. See index.d.ts. */
export function openDoxa({ url, key, user, ...options }) {
  const headers = { ...options.headers, ...(key && { Authorization: `Bearer ${key}` }), ...(user && { "Doxa-User": user }) };
  return createClient({ ...options, baseUrl: url.replace(/\/+$/, ""), headers });
}

/** Yield the events of a reply as it comes about. See index.d.ts. */
export async function* respondStreaming(doxa, said, options = {}) {
  const { data, error } = await doxa.POST("/v1/memory/respond", {
    ...options,
    body: said,
    headers: { Accept: "text/event-stream" },
    parseAs: "stream",
  });
  if (error) throw new DoxaError(error);
  for await (const { event, data: told } of events(data)) {
    if (event === "error") throw new DoxaError(told);
    yield { event, data: told };
    if (event === "done") return;
  }
  throw new DoxaError({ type: "urn:doxa:broken-off", status: 0, detail: "The connection ended before the reply was done." });
}

/** What went wrong, as the server tells it (RFC 9457). */
export class DoxaError extends Error {
  constructor(problem) {
    super(problem.detail);
    this.name = "DoxaError";
    this.problem = problem;
  }
}

/** Yield the server-sent events of a stream; comments are left out. */
async function* events(stream) {
  let waiting = "";
  for await (const piece of stream.pipeThrough(new TextDecoderStream())) {
    const blocks = (waiting + piece).split("\n\n");
    waiting = blocks.pop();
    for (const block of blocks) {
      const lines = block.split("\n").filter((line) => !line.startsWith(":"));
      const field = (name) => lines.filter((line) => line.startsWith(name)).map((line) => line.slice(name.length).trimStart());
      if (lines.length > 0) yield { event: field("event:")[0], data: JSON.parse(field("data:").join("\n")) };
    }
  }
}

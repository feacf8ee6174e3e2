/** Doxa in Vercel's AI SDK: tools of a memory, and a middleware that gives any model one. See ai.d.ts. */

import { jsonSchema } from "ai";

import { DoxaError } from "./index.js";

const KEPT = new Set(["stored", "duplicate"]);

/** Return tools of the memory of one user. */
export function doxaTools(doxa, { user, session, speaker, approveForgetting = true } = {}) {
  const headers = headersOf(user);
  return {
    recall: {
      description: "Look up what is remembered of the user: what is believed now, and what was said, with its sources.",
      inputSchema: inputs({ query: "A question, or any words." }),
      execute: ({ query }, { abortSignal: signal } = {}) => recalled(doxa, query, { headers, signal, k: 10 }),
    },
    remember: {
      description: "Remember something that the user said of themselves or of the world, as a plain sentence.",
      inputSchema: inputs({ text: 'What the user said, in the first person ("I moved to Rome.").' }),
      execute: async ({ text }, { abortSignal: signal } = {}) => {
        const [receipt] = await kept(doxa, [{ text }], { headers, signal, session, speaker, wait: true });
        return { turn_id: receipt.turn_id, outcome: receipt.outcome };
      },
    },
    retract: {
      description: "Take back a fact that never was so. What it had displaced holds again; `why` still tells of it.",
      inputSchema: inputs({ fact_id: "The id of the fact, as `recall` gives it.", reason: "Why." }),
      execute: async ({ fact_id, reason }, { abortSignal: signal } = {}) => {
        const params = { path: { fact_id }, query: { wait: true } };
        const done = await doxa.POST("/v1/memory/facts/{fact_id}/retract", { params, body: { reason }, headers, signal });
        return { changes: told(done).changes.map((one) => ({ kind: one.kind, fact_id: one.fact.fact_id })) };
      },
    },
    forget: {
      description: "Erase for good something that was said, with all that was made of it. Only when the user asks for it.",
      inputSchema: inputs({ turn_id: "The id of what was said, as `recall` gives it." }),
      needsApproval: approveForgetting,
      execute: async ({ turn_id }, { abortSignal: signal } = {}) => {
        const done = await doxa.DELETE("/v1/memory/turns/{turn_id}", { params: { path: { turn_id } }, headers, signal });
        return { erased: told(done).erased };
      },
    },
    why: {
      description: "Explain why a fact is believed, or no longer: who said it and when, and what took its place.",
      inputSchema: inputs({ fact_id: "The id of the fact, as `recall` gives it." }),
      execute: async ({ fact_id }, { abortSignal: signal } = {}) => {
        const done = await doxa.GET("/v1/memory/facts/{fact_id}/why", { params: { path: { fact_id } }, headers, signal });
        return { text: told(done).text, turn_ids: told(done).fact.turn_ids };
      },
    },
  };
}

/** Return a middleware that puts what bears on the last message before a call, and keeps the turns after it. */
export function doxaMemory(doxa, { user, session, agent, speaker, k = 5, keep = true, onError } = {}) {
  const headers = headersOf(user);
  const said = new WeakMap(); // parameters of a call -> the words that it is to keep

  /** Do something with the memory; where the program takes errors, the call goes on without it. */
  const attempt = async (act) => {
    try {
      return await act();
    } catch (error) {
      if (!onError) throw error;
      onError(error);
    }
  };
  const keepAfter = async (params, answer) => {
    const turns = [
      { role: "user", text: said.get(params) ?? "" },
      { role: "assistant", text: answer },
    ].filter((turn) => turn.text.trim());
    if (keep && turns.length > 0) await attempt(() => kept(doxa, turns, { headers, session, agent, speaker }));
  };

  return {
    specificationVersion: "v3",
    transformParams: async ({ params }) => {
      const at = params.prompt.findLastIndex((message) => message.role === "user");
      const text = at < 0 ? "" : wordsOf(params.prompt[at].content);
      if (!text.trim()) return params;
      const found = await attempt(() => recalled(doxa, text, { headers, k, signal: params.abortSignal }));
      const prompt = [...params.prompt];
      const background = found && written(found);
      if (background) prompt[at] = { ...prompt[at], content: [{ type: "text", text: background }, ...prompt[at].content] };
      const changed = { ...params, prompt };
      if (at === prompt.length - 1) said.set(changed, text); // later steps of a call have a result of a tool here
      return changed;
    },
    wrapGenerate: async ({ doGenerate, params }) => {
      const result = await doGenerate();
      await keepAfter(params, wordsOf(result.content));
      return result;
    },
    wrapStream: async ({ doStream, params }) => {
      const { stream, ...rest } = await doStream();
      return { stream: heard(stream, (answer) => keepAfter(params, answer)), ...rest };
    },
  };
}

/** Return a stream that is another one, and say what its text was before it ends, or when nobody reads on. */
function heard(stream, tell) {
  const reader = stream.getReader();
  let answer = "";
  let ended = false;
  const end = async () => {
    if (ended) return;
    ended = true;
    await tell(answer);
  };
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) {
        await end();
        return controller.close();
      }
      if (value.type === "text-delta") answer += value.delta;
      controller.enqueue(value);
    },
    async cancel(reason) {
      await reader.cancel(reason);
      await end();
    },
  });
}

/** Return what bears on some words: what is believed, as a text, and what was said. */
async function recalled(doxa, query, { headers, signal, k }) {
  const [summary, found] = await Promise.all([
    doxa.GET("/v1/memory/summary", { params: { query: { query } }, headers, signal }),
    doxa.POST("/v1/memory/search", { body: { query, k }, headers, signal }),
  ]);
  const said = told(found).items.map(({ text, turn_ids, fact_ids }) => ({ text, turn_ids, fact_ids }));
  return { believed: told(summary).text, said };
}

/** Return what was recalled as a text for a prompt; empty where there is nothing. */
function written({ believed, said }) {
  const quotes = said.map((one) => `- ${one.text}`);
  if (!believed && quotes.length === 0) return "";
  const parts = ["[From memory, for reference; not part of what the user says now.", believed];
  if (quotes.length > 0) parts.push("Said before:", ...quotes);
  return `${parts.filter(Boolean).join("\n")}]\n\n`;
}

/** Have turns stored and return their receipts. */
async function kept(doxa, turns, { headers, signal, session, agent, speaker, wait = false }) {
  const body = { turns, session, agent, speaker };
  const done = told(await doxa.POST("/v1/memory/turns", { params: { query: { wait } }, body, headers, signal }));
  const refused = done.receipts.find((one) => !KEPT.has(one.outcome));
  if (refused) throw new DoxaError({ type: `urn:doxa:${refused.outcome}`, status: 0, detail: refused.detail });
  return done.receipts;
}

function told({ data, error }) {
  if (error) throw new DoxaError(error);
  return data;
}

function headersOf(user) {
  return user ? { "Doxa-User": user } : {};
}

function wordsOf(content) {
  return content
    .filter((part) => part.type === "text")
    .map((part) => part.text)
    .join("");
}

/** Return a schema of inputs that are texts, all of them needed. */
function inputs(fields) {
  const properties = Object.fromEntries(Object.entries(fields).map(([name, description]) => [name, { type: "string", description }]));
  return jsonSchema({ type: "object", properties, required: Object.keys(fields), additionalProperties: false });
}

// Never run: it has to check, and what is marked must not.
import { generateText, wrapLanguageModel, type LanguageModel, type ToolSet } from "ai";

import { doxaMemory, doxaTools } from "../ai.js";
import { openDoxa, respondStreaming, type Schemas } from "../index.js";

const doxa = openDoxa({ url: "http://127.0.0.1:8377", key: "doxa_x", user: "ana" });

export async function use(): Promise<string | undefined> {
  const told = await doxa.POST("/v1/memory/turns", {
    params: { query: { wait: true } },
    body: { turns: [{ text: "I live in Oslo.", turn_id: "a/1" }, { content: [{ type: "text", text: "Hello." }] }] },
  });
  const version: number | undefined = told.data?.version;
  const { data, error } = await doxa.GET("/v1/memory/facts", { params: { query: { as_of: "2024-03-10", limit: 10 } } });
  const facts: Schemas["Fact"][] = data?.items ?? [];
  const why: string | undefined = error?.detail;
  // @ts-expect-error a parameter that is misspelt
  await doxa.GET("/v1/memory/facts", { params: { query: { as_off: "2024-03-10" } } });
  // @ts-expect-error a path that there is not
  await doxa.GET("/v1/memory/fact");
  // @ts-expect-error a field of another type
  await doxa.POST("/v1/memory/turns", { body: { turns: [{ text: 1 }] } });
  await doxa.POST("/v1/memory/tasks/edit", { body: { acts: [{ act: "set", node: "dinner/time", value: { text: "8 pm" } }] } });
  for await (const one of respondStreaming(doxa, { text: "Where do I live?" })) {
    if (one.event === "reply") return one.data.text;
  }
  return facts[0]?.subject ?? why ?? String(version);
}

export async function remember(inner: Parameters<typeof wrapLanguageModel>[0]["model"]): Promise<string> {
  const model: LanguageModel = wrapLanguageModel({ model: inner, middleware: doxaMemory(doxa, { user: "ana", k: 3 }) });
  const { recall, why, forget } = doxaTools(doxa, { user: "ana", approveForgetting: false });
  const some: ToolSet = { recall, why };
  // @ts-expect-error an option that there is not
  doxaMemory(doxa, { conversation: "chat-7" });
  // @ts-expect-error a tool that there is not
  void doxaTools(doxa).remind;
  const { text, toolResults } = await generateText({ model, tools: { recall, forget }, prompt: "Where do I live?" });
  for (const result of toolResults) {
    if (!result.dynamic && result.toolName === "recall") return result.output.believed;
  }
  return `${text} ${Object.keys(some).length}`;
}

// Against a real server and the real AI SDK, in every version that is supported; only the model is scripted.
import assert from "node:assert/strict";
import { test } from "node:test";

import * as six from "ai";
import { MockLanguageModelV3 } from "ai/test";
import * as seven from "ai7";
import { MockLanguageModelV4 } from "ai7/test";

import { doxaMemory, doxaTools } from "../ai.js";
import { DoxaError, openDoxa } from "../index.js";

const doxa = openDoxa({ url: process.env.DOXA_URL, key: process.env.DOXA_KEY });
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const says = (text) => [{ type: "text", text }];
const calls = (toolName, input) => [{ type: "tool-call", toolCallId: toolName, toolName, input: JSON.stringify(input) }];
const finish = (content) => ({ unified: content[0].type === "text" ? "stop" : "tool-calls", raw: undefined });

/** Return a model that answers what it is told to, one answer after the other, and its prompts. */
function scripted(Model, ...answers) {
  let next = 0;
  const prompts = [];
  const model = new Model({
    doGenerate: async ({ prompt }) => {
      prompts.push(prompt);
      const content = answers[next++];
      return { content, finishReason: finish(content), usage, warnings: [] };
    },
    doStream: async ({ prompt }) => {
      prompts.push(prompt);
      const [{ text }] = answers[next++];
      const deltas = text.split(/(?<= )/).map((delta) => ({ type: "text-delta", id: "1", delta }));
      const parts = [{ type: "stream-start", warnings: [] }, { type: "text-start", id: "1" }, ...deltas, { type: "text-end", id: "1" }];
      return { stream: ReadableStream.from([...parts, { type: "finish", finishReason: finish(says("")), usage }]) };
    },
  });
  return { model, prompts };
}

async function turns() {
  const { data } = await doxa.GET("/v1/memory/turns");
  return data.items.map(({ turn }) => [turn.role, turn.text]);
}

const forgetAll = () => doxa.POST("/v1/memory/forget", { body: { everything: true } });
const told = (prompt) => prompt.findLast((message) => message.role === "user").content.map((part) => part.text).join("");

for (const [version, ai, Model] of [["6", six, MockLanguageModelV3], ["7", seven, MockLanguageModelV4]]) {
  const { generateText, stepCountIs, streamText, wrapLanguageModel } = ai;
  const wrapped = (model, options) => wrapLanguageModel({ model, middleware: doxaMemory(doxa, { speaker: "Ana", session: "s", ...options }) });

  test(`AI SDK ${version}: tools remember, recall, explain, take back and forget`, async () => {
    await forgetAll();
    const tools = doxaTools(doxa, { speaker: "Ana", session: "s", approveForgetting: false });
    const run = async (name, input) => {
      const { model } = scripted(Model, calls(name, input), says("Done."));
      const { steps } = await generateText({ model, tools, prompt: "Go on.", stopWhen: stepCountIs(2) });
      const [result] = steps[0].content.filter((part) => part.type.startsWith("tool-") && part.type !== "tool-call");
      return result;
    };
    const { output: receipt } = await run("remember", { text: "I moved to Rome." });
    assert.equal(receipt.outcome, "stored");
    const { output: found } = await run("recall", { query: "Where does Ana live?" });
    assert.match(found.believed, /Rome/);
    assert.deepEqual(found.said[0].turn_ids, [receipt.turn_id]);
    const [fact_id] = found.said[0].fact_ids;
    assert.match((await run("why", { fact_id })).output.text, /Rome/);
    const { output: taken } = await run("retract", { fact_id, reason: "It was a joke." });
    assert.ok(taken.changes.some((one) => one.kind === "retract" && one.fact_id === fact_id));
    assert.equal((await run("forget", { turn_id: receipt.turn_id })).output.erased.turns, 1);
    assert.deepEqual(await turns(), []);
    const failed = await run("why", { fact_id: "none" });
    assert.ok(failed.type === "tool-error" && failed.error instanceof DoxaError && failed.error.problem.status === 404);
  });

  test(`AI SDK ${version}: nothing is forgotten before it is approved`, async () => {
    await forgetAll();
    await doxa.POST("/v1/memory/turns", { params: { query: { wait: true } }, body: { turns: [{ text: "I live in Rome.", turn_id: "t1" }] } });
    const { model } = scripted(Model, calls("forget", { turn_id: "t1" }));
    const { content } = await generateText({ model, tools: doxaTools(doxa), prompt: "Forget it.", stopWhen: stepCountIs(2) });
    assert.ok(content.some((part) => part.type === "tool-approval-request"));
    assert.equal((await turns()).length, 1);
  });

  test(`AI SDK ${version}: a model has a memory`, async () => {
    await forgetAll();
    const { model, prompts } = scripted(Model, says("Noted."), says("In Rome."));
    const { text } = await generateText({ model: wrapped(model), prompt: "I moved to Rome." });
    assert.equal(text, "Noted.");
    assert.equal(told(prompts[0]), "I moved to Rome."); // nothing is known yet
    await generateText({ model: wrapped(model), prompt: "Where do I live?" });
    assert.match(told(prompts[1]), /From memory[^]*Rome[^]*\]\n\nWhere do I live\?$/);
    assert.deepEqual(await turns(), [
      ["user", "I moved to Rome."], ["assistant", "Noted."], ["user", "Where do I live?"], ["assistant", "In Rome."],
    ]);
  });

  test(`AI SDK ${version}: a stream is passed on as it comes, and kept before it ends`, async () => {
    await forgetAll();
    const { model } = scripted(Model, says("Rome is a fine place."), says("One two three."));
    const pieces = [];
    for await (const piece of streamText({ model: wrapped(model), prompt: "I moved to Rome." }).textStream) pieces.push(piece);
    assert.deepEqual(pieces, ["Rome ", "is ", "a ", "fine ", "place."]);
    assert.deepEqual(await turns(), [["user", "I moved to Rome."], ["assistant", "Rome is a fine place."]]);
    const { stream } = await wrapped(model).doStream({ prompt: [{ role: "user", content: says("Count.") }] });
    const reader = stream.getReader();
    while ((await reader.read()).value.type !== "text-delta");
    await reader.cancel();
    const [asked, answered] = (await turns()).slice(2);
    assert.deepEqual(asked, ["user", "Count."]);
    assert.ok(answered[0] === "assistant" && "One two three.".startsWith(answered[1]));
  });

  test(`AI SDK ${version}: a call with tools keeps each turn once`, async () => {
    await forgetAll();
    const { model, prompts } = scripted(Model, calls("recall", { query: "home" }), says("I do not know."));
    await generateText({ model: wrapped(model), tools: doxaTools(doxa), prompt: "Where do I live?", stopWhen: stepCountIs(2) });
    assert.equal(prompts.length, 2);
    assert.deepEqual(await turns(), [["user", "Where do I live?"], ["assistant", "I do not know."]]);
  });

  test(`AI SDK ${version}: a call that fails keeps nothing, and a memory that fails is told`, async () => {
    await forgetAll();
    const broken = new Model({ doGenerate: async () => { throw new Error("no model"); } });
    await assert.rejects(generateText({ model: wrapped(broken), prompt: "I moved to Rome.", maxRetries: 0 }), /no model/);
    assert.deepEqual(await turns(), []);
    const { model } = scripted(Model, says("Hello."), says("Hello."), says("Hello."));
    const closed = (options) => wrapLanguageModel({ model, middleware: doxaMemory(openDoxa({ url: process.env.DOXA_URL }), options) });
    await assert.rejects(generateText({ model: closed(), prompt: "Hi.", maxRetries: 0 }), DoxaError);
    const errors = [];
    const { text } = await generateText({ model: closed({ onError: (error) => errors.push(error) }), prompt: "Hi." });
    assert.ok(text === "Hello." && errors.length === 2 && errors.every((one) => one instanceof DoxaError));
    await generateText({ model: wrapped(model, { keep: false }), prompt: "Hi." });
    assert.deepEqual(await turns(), []);
  });

  test(`AI SDK ${version}: a user is the one who is named`, async () => {
    const { model } = scripted(Model, says("Hello."));
    const other = wrapLanguageModel({ model, middleware: doxaMemory(doxa, { user: "ben" }) });
    await assert.rejects(generateText({ model: other, prompt: "Hi.", maxRetries: 0 }), (error) => error.problem.status === 403);
  });
}

// Against a real server: DOXA_URL says where, DOXA_KEY is a key of its user with all rights.
import assert from "node:assert/strict";
import { test } from "node:test";

import { DoxaError, openDoxa, respondStreaming } from "../index.js";

const doxa = openDoxa({ url: `${process.env.DOXA_URL}/`, key: process.env.DOXA_KEY });

test("what is told with wait is known to the next read", async () => {
  const turns = [{ text: "I live in Lisbon.", at: "2024-03-02T09:00:00Z", turn_id: "D1/1" }];
  const told = await doxa.POST("/v1/memory/turns", { params: { query: { wait: true } }, body: { turns, speaker: "Ana" } });
  assert.equal(told.response.status, 201);
  assert.equal(told.data.receipts[0].outcome, "stored");
  const { data } = await doxa.GET("/v1/memory/facts", { params: { query: { relation: "lives_in" } } });
  assert.deepEqual(data.items.map((fact) => [fact.subject, fact.object]), [["Ana", "Lisbon"]]);
});

test("an id with slashes is one part of a path", async () => {
  const { data } = await doxa.GET("/v1/memory/turns/{turn_id}", { params: { path: { turn_id: "D1/1" } } });
  assert.equal(data.turn.text, "I live in Lisbon.");
  assert.equal(data.claims[0].object, "Lisbon");
});

test("a question is answered with its sources", async () => {
  const { data } = await doxa.POST("/v1/memory/ask", { body: { text: "Where do I live?", speaker: "Ana" } });
  assert.equal(data.value, "Lisbon");
  assert.equal(data.citations[0].turn_id, "D1/1");
});

test("a reply comes as events", async () => {
  const events = [];
  for await (const one of respondStreaming(doxa, { text: "I moved to Bonn. Where do I live?", speaker: "Ana" })) events.push(one);
  const names = events.map((one) => one.event);
  assert.deepEqual(names.slice(-2), ["reply", "done"]);
  assert.ok(names.slice(0, -2).every((name) => name === "step") && names.length > 4);
  assert.equal(events.at(-2).data.value, "Bonn");
  assert.equal(events.at(-1).data.waiting, "");
});

test("what goes wrong says what was expected", async () => {
  const { error, response } = await doxa.GET("/v1/memory/facts", { params: { query: { as_of: "soon" } } });
  assert.equal(response.status, 400);
  assert.match(error.detail, /expected a time/);
  const streaming = respondStreaming(doxa, { text: "Another text.", turn_id: "D1/1" });
  await assert.rejects(streaming.next(), (thrown) => thrown instanceof DoxaError && thrown.problem.status === 409);
});

test("a read that is known is not done again", async () => {
  const first = await doxa.GET("/v1/memory/summary");
  const headers = { "If-None-Match": first.response.headers.get("etag") };
  const again = await doxa.GET("/v1/memory/summary", { headers });
  assert.equal(again.response.status, 304);
});

test("a memory is carried as a file", async () => {
  const { data } = await doxa.GET("/v1/memory/export", { parseAs: "text" });
  const lines = data.trim().split("\n").map((line) => JSON.parse(line));
  assert.equal(lines[0].format, "doxa-export/1");
  const { data: done } = await doxa.POST("/v1/memory/import", { body: data, bodySerializer: (body) => body });
  assert.equal(done.turns, 0);
});

test("what is forgotten is gone, with a certificate", async () => {
  const { data } = await doxa.POST("/v1/memory/forget", { body: { everything: true } });
  assert.ok(data.erased.turns >= 1);
  const { data: left } = await doxa.GET("/v1/memory/turns");
  assert.deepEqual(left.items, []);
});

test("without a key nothing is told", async () => {
  const { error } = await openDoxa({ url: process.env.DOXA_URL }).GET("/v1/memory/facts");
  assert.equal(error.type, "urn:doxa:unauthorized");
});

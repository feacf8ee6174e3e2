import type { Client, ClientOptions } from "openapi-fetch";
import type { components, paths } from "./schema.js";

export type { components, operations, paths } from "./schema.js";

/** A client of the memory of one user: `doxa.GET("/v1/memory/facts")`, with every path and answer typed. */
export type Doxa = Client<paths>;
/** The values of Doxa: `Schemas["Fact"]`, `Schemas["Reply"]`, ... */
export type Schemas = components["schemas"];

export interface DoxaOptions extends Omit<ClientOptions, "baseUrl" | "headers"> {
  /** Where the server is: `http://127.0.0.1:8377`. */
  url: string;
  /** An API key, as `doxa keys add` makes it. */
  key?: string;
  /** Whose memory; by default that of the one user of the key. */
  user?: string;
  /** Headers of every request beside those. */
  headers?: Record<string, string>;
}

/** Return a client of the memory of one user. Its methods return `{ data }`, or `{ error }` with what went wrong. */
export function openDoxa(options: DoxaOptions): Doxa;

/** A step as it ended, the reply, or that it is done. */
export type ReplyEvent =
  | { event: "step"; data: Schemas["Step"] }
  | { event: "reply"; data: Schemas["Reply"] }
  | { event: "done"; data: Pick<Schemas["ReceiptsOut"], "version" | "waiting"> };

/**
 * Yield what happens while what the user says is answered: each step as it ends, the reply, done.
 *
 * @throws DoxaError where it fails; what was said may be remembered, and the same `turn_id` again is the same turn.
 */
export function respondStreaming(
  doxa: Doxa,
  said: Partial<Schemas["SayingIn"]> & { text: string },
  options?: { signal?: AbortSignal },
): AsyncGenerator<ReplyEvent, void, void>;

/** What went wrong, as the server tells it (RFC 9457). */
export class DoxaError extends Error {
  constructor(problem: Pick<Schemas["Problem"], "type" | "status" | "detail">);
  readonly problem: Pick<Schemas["Problem"], "type" | "status" | "detail">;
}

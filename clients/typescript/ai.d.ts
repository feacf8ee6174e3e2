import type { LanguageModelMiddleware, Tool } from "ai";
import type { Doxa, Schemas } from "./index.js";

export interface MemoryOptions {
  /** Whose memory; by default that of the client. */
  user?: string;
  /** The conversation that turns are kept in. */
  session?: string;
  /** The user's name as people write it; by default as the server has it. */
  speaker?: string;
}

/** What was recalled. */
export interface Recalled {
  /** What is believed now, one line a subject; empty where nothing bears on it. */
  believed: string;
  /** What was said, best first, with the ids that `why`, `retract` and `forget` take. */
  said: Pick<Schemas["Evidence"], "text" | "turn_ids" | "fact_ids">[];
}

/** Tools of a memory, for `generateText({ tools })` and agents. */
export type DoxaTools = {
  recall: Tool<{ query: string }, Recalled>;
  remember: Tool<{ text: string }, Pick<Schemas["ReceiptOut"], "turn_id" | "outcome">>;
  retract: Tool<{ fact_id: string; reason: string }, { changes: { kind: string; fact_id: string }[] }>;
  forget: Tool<{ turn_id: string }, { erased: Schemas["Certificate"]["erased"] }>;
  why: Tool<{ fact_id: string }, { text: string; turn_ids: string[] }>;
};

/**
 * Return tools of the memory of one user. What goes wrong is thrown as a DoxaError, which the model is told.
 *
 * `forget` erases for good and waits for approval, unless `approveForgetting` is false; leave a tool out to withhold it.
 */
export function doxaTools(doxa: Doxa, options?: MemoryOptions & { approveForgetting?: boolean }): DoxaTools;

/**
 * Return a middleware for `wrapLanguageModel`: what bears on the user's last message is put before its words, and the
 * message and the answer are kept after the call, once, whatever tools are called between; a streamed answer before its
 * stream ends, or as far as it was read. A call that fails keeps nothing.
 */
export function doxaMemory(
  doxa: Doxa,
  options?: MemoryOptions & {
    /** The name of the assistant. */
    agent?: string;
    /** How much of what was said is put before a message at most; by default 5. */
    k?: number;
    /** False only reads. */
    keep?: boolean;
    /** Takes what goes wrong with the memory, and the call goes on without it; by default it is thrown. */
    onError?: (error: unknown) => void;
  },
): LanguageModelMiddleware;

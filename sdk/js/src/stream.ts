/** Following the log: server-sent events over `fetch`, so that the key can be sent. */

import type { Imprint, StreamedEvent } from "./client.js";
import { ImprintError, errorOf } from "./errors.js";
import { passes, pause, sleep } from "./retries.js";
import type { LoggedEvent } from "./types.js";

export interface StreamOptions {
  /** Types, with `*` for any characters. */
  types?: readonly string[];
  sessionId?: string;
  userId?: string;
  /** Position after which to begin; `"0"` for the whole log; default: what happens from now on. */
  after?: string;
  /** False: end at the end of the log instead of waiting for more. */
  follow?: boolean;
  signal?: AbortSignal;
}

/** Time without a sign of life after which a connection counts as lost; the service sends one every 15 seconds. */
const SILENT_MS = 45_000;

/** A frame of the stream: an event, or only a position. */
interface Frame {
  id: string | undefined;
  data: string;
}

/** Yield events; after an interruption go on after the last position received. */
export async function* follow(client: Imprint, options: StreamOptions): AsyncGenerator<StreamedEvent, void, undefined> {
  const position: { last: string | undefined } = { last: options.after };
  for (let attempt = 0; ; attempt += 1) {
    let retryAfter: string | null = null;
    try {
      const answer = await connect(client, options, position.last);
      if (answer.ok && answer.body) {
        for await (const frame of frames(watched(answer.body))) {
          attempt = 0;
          position.last = frame.id ?? position.last;
          const data = (frame.data ? JSON.parse(frame.data) : {}) as Partial<LoggedEvent>;
          // Frames of the stream itself, `stream.position` and `stream.gap`, have no type in their data.
          if (data.event_type !== undefined) yield { ...(data as LoggedEvent), position: position.last ?? "" };
        }
        if (options.follow === false) return;
      } else {
        if (!passes(answer.status, true)) throw await errorOf(answer);
        retryAfter = answer.headers.get("retry-after");
        await answer.body?.cancel();
      }
    } catch (error) {
      if (error instanceof ImprintError || options.signal?.aborted) throw error;
    }
    await sleep(pause(client.retries, attempt, retryAfter), options.signal);
  }
}

function connect(client: Imprint, options: StreamOptions, last: string | undefined): Promise<Response> {
  const query = {
    types: options.types?.join(","),
    session_id: options.sessionId,
    user_id: options.userId,
    follow: options.follow,
  };
  const headers = { accept: "text/event-stream", ...(last === undefined ? {} : { "last-event-id": last }) };
  return client.open("GET", "/v1/stream", { query, headers, ...(options.signal ? { signal: options.signal } : {}) });
}

/** Yield the pieces of a body; fail when nothing comes for too long. */
async function* watched(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader();
  try {
    for (;;) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const silence = new Promise<never>((_resolve, reject) => {
        timer = setTimeout(() => reject(new Error("The stream has been silent for too long")), SILENT_MS);
      });
      const piece = await Promise.race([reader.read(), silence]).finally(() => clearTimeout(timer));
      if (piece.done) return;
      yield piece.value;
    }
  } finally {
    // Also where the caller has left the loop: the connection counts towards a limit of the tenant.
    await reader.cancel().catch(() => undefined);
  }
}

/** Yield the frames of a stream; one that was cut off is dropped, and comes again. */
export async function* frames(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Frame, void, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  let frame: Frame = { id: undefined, data: "" };
  for await (const piece of pieces) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        if (frame.data || frame.id !== undefined) yield frame;
        frame = { id: undefined, data: "" };
        continue;
      }
      const [, name, value] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
      if (name === "id") frame.id = value ?? "";
      if (name === "data") frame.data += frame.data ? `\n${value ?? ""}` : (value ?? "");
    }
  }
}

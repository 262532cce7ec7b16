/** The client. */

import { ImprintError, errorOf } from "./errors.js";
import { LastPosition, POSITION } from "./position.js";
import { RETRIES, passes, pause, sleep, type Retries } from "./retries.js";
import { Session, type Owner } from "./session.js";
import { follow, type StreamOptions } from "./stream.js";
import { randomId } from "./webcrypto.js";
import type {
  Accepted,
  AnswerOf,
  BodyOf,
  Context,
  EventToPublish,
  Kept,
  LoggedEvent,
  Memory,
  QueryOf,
  Receipt,
  SearchResult,
} from "./types.js";

export interface ClientOptions {
  /** Address of the service; default: `IMPRINT_URL`, else `http://127.0.0.1:8070`. */
  baseUrl?: string;
  /** Key of the tenant; default: `IMPRINT_API_KEY`. */
  key?: string;
  /** `source` of published events. */
  source?: string;
  /** Time after which a request is given up. */
  timeoutMs?: number;
  retries?: Partial<Retries>;
  /** Another `fetch`, such as one of a framework. */
  fetch?: typeof fetch;
}

export interface RequestOptions {
  query?: object;
  body?: unknown;
  headers?: Record<string, string>;
  /** Whether the request may arrive twice; if not, it is repeated only when it was not carried out. */
  repeatable?: boolean;
  timeoutMs?: number;
  signal?: AbortSignal;
}

/** Events of one request: as many as the service takes by default. */
const BATCH = 1_000;

/** A connection to the service. What it has written, its later searches show, also where a replica answers. */
export class Imprint {
  readonly baseUrl: string;
  readonly source: string;
  readonly retries: Retries;
  readonly memories: Memories;
  readonly events: Events;
  readonly #key: string;
  readonly #timeoutMs: number;
  readonly #fetch: typeof fetch;
  readonly #position = new LastPosition();

  constructor(options: ClientOptions = {}) {
    this.baseUrl = (options.baseUrl ?? environment("IMPRINT_URL") ?? "http://127.0.0.1:8070").replace(/\/+$/, "");
    this.#key = options.key ?? environment("IMPRINT_API_KEY") ?? "";
    this.source = options.source ?? "imprint-client";
    this.retries = { ...RETRIES, ...options.retries };
    this.#timeoutMs = options.timeoutMs ?? 30_000;
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
    this.memories = new Memories(this);
    this.events = new Events(this);
  }

  /** Return a conversation of a user. */
  session(owner: Owner): Session {
    return new Session(this, owner);
  }

  /** Search memories, messages and documents, best first. */
  async search(asked: BodyOf<"search">): Promise<SearchResult[]> {
    return (await this.searchAll(asked)).results;
  }

  /** Search, and return the whole answer: results, groups, the cursor of the next page. */
  searchAll(asked: BodyOf<"search">): Promise<AnswerOf<"search">> {
    return this.request("POST", "/v1/search", { body: asked });
  }

  /** Answer a question from what is remembered; `answer` is null if nothing tells it. */
  answer(asked: BodyOf<"answerQuestion">): Promise<AnswerOf<"answerQuestion">> {
    return this.request("POST", "/v1/answer", { body: asked });
  }

  /** Everything remembered of somebody, by a name or a role such as "my mother", the latest first. */
  about(name: string, query: { user_id: string; after?: string; limit?: number }): Promise<AnswerOf<"getEntity">> {
    return this.request("GET", "/v1/entities/about", { query: { name, ...query } });
  }

  /** Decide that several names are one person's. */
  mergeNames(asked: BodyOf<"mergeEntities">): Promise<AnswerOf<"mergeEntities">> {
    return this.request("POST", "/v1/entities/merge", { body: asked });
  }

  /** Build what a model should read, within a token limit. */
  context(asked: Partial<BodyOf<"buildContext">>): Promise<Context> {
    return this.request("POST", "/v1/context", { body: asked });
  }

  /** Wait until everything up to the token, and what follows from it, has ended; whether it has. */
  async settle(token: string, options: { timeoutMs?: number; flush?: boolean; signal?: AbortSignal } = {}): Promise<boolean> {
    const waitMs = options.timeoutMs ?? 20_000;
    const answer = await this.request<AnswerOf<"settle">>("GET", "/v1/settle", {
      query: { token, timeout: waitMs / 1_000, flush: options.flush ?? false },
      timeoutMs: waitMs + 10_000,
      ...(options.signal ? { signal: options.signal } : {}),
    });
    return answer.settled;
  }

  /** Follow the log, from now on or from a position; after an interruption it goes on where it was. */
  stream(options: StreamOptions = {}): AsyncGenerator<StreamedEvent, void, undefined> {
    return follow(this, options);
  }

  /** Send a request and return the JSON of its answer. Refusals that pass are repeated. */
  async request<Answer = unknown>(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const answer = await this.send(method, path, options);
    const text = await answer.text();
    return (text ? JSON.parse(text) : undefined) as Answer;
  }

  /** Send a request and return its answer once it is a success; an ImprintError otherwise. */
  async send(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
    const repeatable = options.repeatable ?? true;
    for (let attempt = 0; ; attempt += 1) {
      const isLast = attempt + 1 >= this.retries.attempts;
      let retryAfter: string | null = null;
      try {
        const answer = await this.fetch(method, path, options);
        if (answer.ok) return answer;
        if (isLast || !passes(answer.status, repeatable)) throw await errorOf(answer);
        retryAfter = answer.headers.get("retry-after");
        await answer.body?.cancel();
      } catch (error) {
        // What `fetch` throws is a lost connection or a time-out: the request may have arrived.
        if (error instanceof ImprintError || isLast || !repeatable || options.signal?.aborted) throw error;
      }
      await sleep(pause(this.retries, attempt, retryAfter), options.signal);
    }
  }

  /** Send a request once, with the key. */
  async fetch(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
    const limit = AbortSignal.timeout(options.timeoutMs ?? this.#timeoutMs);
    return this.open(method, path, { ...options, signal: options.signal ? either(options.signal, limit) : limit });
  }

  /** Send a request once, with the key and without a time limit. */
  async open(method: string, path: string, options: RequestOptions): Promise<Response> {
    const headers = new Headers({ authorization: `Bearer ${this.#key}`, ...this.#position.headers });
    for (const [name, value] of Object.entries(options.headers ?? {})) headers.set(name, value);
    const init: RequestInit = { method, headers };
    if (options.body !== undefined) {
      if (!headers.has("content-type")) headers.set("content-type", "application/json");
      init.body = JSON.stringify(options.body);
    }
    if (options.signal) init.signal = options.signal;
    const answer = await this.#fetch(`${this.baseUrl}${path}${queryOf(options.query)}`, init);
    this.#position.note(headers.get(POSITION), answer.headers.get(POSITION));
    return answer;
  }
}

export type StreamedEvent = LoggedEvent & { position: string };

/** Memories. */
export class Memories {
  constructor(private readonly client: Imprint) {}

  /** State a memory; the answer has it, or the reason why it was not stored. */
  add(stated: Partial<BodyOf<"addMemory">> & { user_id: string; content: string }): Promise<Kept> {
    // The key makes the request safe to repeat.
    return this.client.request("POST", "/v1/memories", {
      body: stated,
      headers: { "idempotency-key": randomId() },
    });
  }

  /** Return a memory. */
  get(id: string, at: QueryOf<"getMemory"> = {}): Promise<AnswerOf<"getMemory">> {
    return this.client.request("GET", pathOf(id), { query: at });
  }

  /** Return one page of memories, and the cursor of the next one. */
  page(filter: QueryOf<"listMemories"> = {}): Promise<AnswerOf<"listMemories">> {
    return this.client.request("GET", "/v1/memories", { query: filter });
  }

  /** Iterate over all memories that a filter selects. */
  async *list(filter: QueryOf<"listMemories"> = {}): AsyncGenerator<Memory, void, undefined> {
    let after: string | null | undefined = filter.after;
    do {
      const page: AnswerOf<"listMemories"> = await this.page(after ? { ...filter, after } : filter);
      yield* page.items;
      after = page.next;
    } while (after);
  }

  /** Edit a memory; with `version`, only if it is still that one. */
  edit(id: string, changes: BodyOf<"editMemory">): Promise<Memory> {
    return this.client.request("PATCH", pathOf(id), { body: changes, repeatable: false });
  }

  /** Erase a memory, with what says the same; the answer is a signed receipt. */
  forget(id: string): Promise<Receipt> {
    return this.client.request("DELETE", pathOf(id), { repeatable: false });
  }

  /** Pin a memory, so that it does not fade, or unpin it. */
  pin(id: string, pinned = true): Promise<Memory> {
    return this.client.request("POST", pathOf(id, "/pin"), { body: { pinned } });
  }

  /** Return all versions of a memory, oldest first. */
  async history(id: string): Promise<AnswerOf<"getMemoryHistory">["items"]> {
    return (await this.client.request<AnswerOf<"getMemoryHistory">>("GET", pathOf(id, "/history"))).items;
  }

  /** Return why a memory exists: events, rules, dispatches, model calls, evidence. */
  why(id: string): Promise<AnswerOf<"explainMemory">> {
    return this.client.request("GET", pathOf(id, "/why"));
  }
}

/** Events. */
export class Events {
  constructor(private readonly client: Imprint) {}

  /**
   * Publish events, in batches of 1,000, and return what became of them all.
   *
   * Each has an id before it is sent, so that a repeated request changes nothing. A batch is one transaction.
   */
  async publish(events: EventToPublish | readonly EventToPublish[]): Promise<Accepted> {
    const several = Array.isArray(events) ? (events as readonly EventToPublish[]) : [events as EventToPublish];
    const named = several.map((event) => ({ id: randomId(), source: this.client.source, ...event }));
    const all: Accepted = { accepted: 0, duplicates: 0, events: [], settle_token: "" };
    for (let start = 0; start < named.length; start += BATCH) {
      const body = named.slice(start, start + BATCH);
      const done = await this.client.request<Accepted>("POST", "/v1/events", { body });
      all.accepted += done.accepted;
      all.duplicates += done.duplicates;
      all.events.push(...done.events);
      all.settle_token = done.settle_token;
    }
    return all;
  }

  /** Return an event. */
  get(id: string): Promise<LoggedEvent> {
    return this.client.request("GET", `/v1/events/${encodeURIComponent(id)}`);
  }

  /** Return what followed from an event. */
  trace(id: string): Promise<AnswerOf<"traceEvent">> {
    return this.client.request("GET", `/v1/events/${encodeURIComponent(id)}/trace`);
  }
}

function pathOf(id: string, rest = ""): string {
  return `/v1/memories/${encodeURIComponent(id)}${rest}`;
}

function queryOf(given: object | undefined): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(given ?? {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null) words.append(name, String(one));
    }
  }
  const text = words.toString();
  return text && `?${text}`;
}

function either(one: AbortSignal, other: AbortSignal): AbortSignal {
  const first = new AbortController();
  for (const signal of [one, other]) {
    if (signal.aborted) first.abort(signal.reason);
    signal.addEventListener("abort", () => first.abort(signal.reason), { once: true, signal: first.signal });
  }
  return first.signal;
}

/** Return a variable of the environment; browsers have none. */
function environment(name: string): string | undefined {
  const process = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process;
  return process?.env?.[name];
}

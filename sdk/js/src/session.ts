/** A conversation. */

import type { Imprint } from "./client.js";
import { randomId } from "./webcrypto.js";
import type { AnswerOf, BodyOf, Context, MessageFields, QueryOf, Role, SearchResult } from "./types.js";

/** Whose conversation it is. */
export interface Owner {
  userId: string;
  /** Default: a new session. */
  sessionId?: string;
  groupId?: string;
  agentId?: string;
}

/** A conversation of a user: messages in, contexts out. */
export class Session {
  readonly id: string;
  readonly userId: string;
  readonly groupId: string | undefined;
  readonly agentId: string | undefined;
  /** Token of the last thing published here. */
  settleToken: string | undefined;
  readonly #client: Imprint;

  constructor(client: Imprint, owner: Owner) {
    this.#client = client;
    this.id = owner.sessionId ?? randomId();
    this.userId = owner.userId;
    this.groupId = owner.groupId;
    this.agentId = owner.agentId;
  }

  /** Add a message and return its id. */
  async add(role: Role, text: string, fields: MessageFields = {}): Promise<string> {
    const message = { message_id: randomId(), role, content: text, ...fields };
    await this.publish("message.added", [this.agentId ? { agent_id: this.agentId, ...message } : message]);
    return message.message_id;
  }

  /** Publish events of one type in this session, in one transaction. */
  async publish(eventType: string, payloads: readonly Record<string, unknown>[]): Promise<void> {
    if (payloads.length === 0) return;
    const owner = { session_id: this.id, user_id: this.userId, ...(this.groupId ? { group_id: this.groupId } : {}) };
    const time = new Date().toISOString();
    const events = payloads.map((one) => ({ event_type: eventType, time, payload: { ...owner, ...one } }));
    this.settleToken = (await this.#client.events.publish(events)).settle_token;
  }

  /** Build what a model should read before it answers; default query: the newest message of the user. */
  context(query?: string, fields: Partial<BodyOf<"buildContext">> = {}): Promise<Context> {
    const owner = { user_id: this.userId, session_id: this.id, ...(this.groupId ? { group_id: this.groupId } : {}) };
    return this.#client.context({ ...owner, ...(query === undefined ? {} : { query }), ...fields });
  }

  /** Search what is known about the user, in all sessions. */
  search(query: string, fields: Partial<BodyOf<"search">> = {}): Promise<SearchResult[]> {
    const owner = { user_id: this.userId, ...(this.groupId ? { group_id: this.groupId } : {}) };
    return this.#client.search({ ...owner, query, ...fields } as BodyOf<"search">);
  }

  /** Return the newest messages, oldest first. */
  async messages(asked: QueryOf<"listMessages"> = { last: 100 }): Promise<AnswerOf<"listMessages">["items"]> {
    const path = `/v1/sessions/${this.id.split("/").map(encodeURIComponent).join("/")}/messages`;
    return (await this.#client.request<AnswerOf<"listMessages">>("GET", path, { query: asked })).items;
  }

  /** Wait until what this session published, and what follows from it, has ended; whether it has. */
  async settle(options: { timeoutMs?: number; flush?: boolean } = {}): Promise<boolean> {
    return this.settleToken === undefined || this.#client.settle(this.settleToken, options);
  }

  /** Publish the end of the conversation. */
  end(): Promise<void> {
    return this.publish("session.ended", [{}]);
  }
}

/** Names for the shapes of the OpenAPI document. */

import type { components, operations } from "./schema.js";

export type { components, operations, paths } from "./schema.js";

export type Schemas = components["schemas"];

export type Memory = Schemas["Memory"];
export type Context = Schemas["ContextAnswer"];
export type SearchResult = Schemas["FoundResult"];
export type Kept = Schemas["KeptStatement"];
export type Receipt = Schemas["SignedReceipt"];
export type LoggedEvent = Schemas["LoggedEvent"];
export type Accepted = Schemas["AcceptedBatch"];

/** The JSON body that an operation takes. */
export type BodyOf<Id extends keyof operations> = operations[Id] extends {
  requestBody?: { content: { "application/json": infer Body } };
}
  ? Body
  : never;

/** The query parameters that an operation takes. */
export type QueryOf<Id extends keyof operations> = NonNullable<operations[Id]["parameters"]["query"]>;

/** The JSON answer of an operation: that of its first success. */
export type AnswerOf<Id extends keyof operations> = operations[Id]["responses"] extends infer Answers
  ? Json<Success<Answers>>
  : never;

type Success<Answers> = Answers extends { 200: infer A }
  ? A
  : Answers extends { 201: infer A }
    ? A
    : Answers extends { 202: infer A }
      ? A
      : never;

type Json<Answer> = Answer extends { content: { "application/json": infer Body } } ? Body : never;

/** A type whose named fields may be left out: defaults of the service, which the document gives as required. */
export type Optional<T, K extends keyof T = never> = Omit<T, K> & Partial<Pick<T, K>>;

/** An event to publish; the client adds `id` and `source` where they are missing. */
export type EventToPublish = Partial<Schemas["NativeEvent"]> & Pick<Schemas["NativeEvent"], "event_type">;

export type Role = "user" | "assistant" | "system" | "tool";

/** Fields of `message.added` beside its words and its owner. */
export interface MessageFields {
  message_id?: string;
  speaker?: string;
  importance?: number;
  tool_calls?: unknown[];
  tags?: string[];
  metadata?: Record<string, unknown>;
  audience_labels?: string[];
}

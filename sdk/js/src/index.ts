export { Imprint, Events, Memories, type ClientOptions, type RequestOptions, type StreamedEvent } from "./client.js";
export { ImprintError, SignatureError, type Fault } from "./errors.js";
export { type Retries } from "./retries.js";
export { Session, type Owner } from "./session.js";
export { type StreamOptions } from "./stream.js";
export * from "./types.js";
export { verifyWebhook, type WebhookCheck } from "./webhooks.js";

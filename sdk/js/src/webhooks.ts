/** Checks signed webhooks (Standard Webhooks, HMAC-SHA256) with WebCrypto. */

import { SignatureError } from "./errors.js";
import { subtle } from "./webcrypto.js";

/** Seconds by which the clocks of sender and receiver may differ. */
const TOLERANCE = 300;

export interface WebhookCheck {
  /** The body as it came, before it is parsed. */
  body: string | Uint8Array;
  headers: Headers | Record<string, string | string[] | undefined>;
  /** `whsec_…`; several, separated by spaces, while a secret is rotated. */
  secret: string;
  /** The tenant whose webhook it must be. */
  tenant: string;
  /** Seconds since 1970; default: now. */
  now?: number;
}

/** Return the content of a webhook that this tenant has sent; a SignatureError for any other. */
export async function verifyWebhook(check: WebhookCheck): Promise<unknown> {
  const [id, stamp, signatures] = ["id", "timestamp", "signature"].map((name) => header(check, `webhook-${name}`));
  if (!id || !signatures || !/^\d+$/.test(stamp ?? "")) {
    throw new SignatureError("The headers webhook-id, webhook-timestamp and webhook-signature are needed");
  }
  if (Math.abs((check.now ?? Date.now() / 1_000) - Number(stamp)) > TOLERANCE) {
    throw new SignatureError("The webhook is too old, or the clocks differ");
  }
  if (!id.startsWith(`${check.tenant}:`)) throw new SignatureError("Another tenant has sent this");
  const body = typeof check.body === "string" ? new TextEncoder().encode(check.body) : check.body;
  const content = joined(new TextEncoder().encode(`${id}.${stamp}.`), body);
  const given = signatures.split(" ").filter((one) => one.startsWith("v1,"));
  for (const secret of check.secret.split(/\s+/).filter(Boolean)) {
    const key = await keyOf(secret);
    for (const one of given) {
      const signature = decoded(one.slice("v1,".length));
      // `verify` compares in constant time.
      if (signature && (await (await subtle()).verify("HMAC", key, signature, content))) {
        return JSON.parse(new TextDecoder().decode(body)) as unknown;
      }
    }
  }
  throw new SignatureError("The signature is wrong");
}

function header(check: WebhookCheck, name: string): string | undefined {
  if (check.headers instanceof Headers) return check.headers.get(name) ?? undefined;
  const found = Object.entries(check.headers).find(([one]) => one.toLowerCase() === name)?.[1];
  return Array.isArray(found) ? found[0] : found;
}

async function keyOf(secret: string): Promise<CryptoKey> {
  const bytes = decoded(secret.replace(/^whsec_/, ""));
  if (!bytes) throw new SignatureError("The secret is no base64");
  return (await subtle()).importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

function decoded(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(one.length + other.length);
  all.set(one);
  all.set(other, one.length);
  return all;
}

/** WebCrypto where it is: global in browsers and in Node from 19 on, a module in Node 18. */

/** Return the interface of WebCrypto. */
export async function subtle(): Promise<SubtleCrypto> {
  const global = globalThis.crypto as Crypto | undefined;
  if (global) return global.subtle;
  const name = "node:crypto"; // In a variable: a bundler for browsers must not look for it.
  const { webcrypto } = (await import(name)) as { webcrypto: Crypto };
  return webcrypto.subtle;
}

/** Return a random UUID; pages without TLS, and Node 18, have no `crypto.randomUUID`. */
export function randomId(): string {
  const global = globalThis.crypto as Partial<Crypto> | undefined;
  if (global?.randomUUID) return global.randomUUID();
  const bytes = new Uint8Array(16);
  if (global?.getRandomValues) global.getRandomValues(bytes);
  else bytes.forEach((_, n) => (bytes[n] = Math.floor(Math.random() * 256)));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

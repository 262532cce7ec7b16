/** Which requests are repeated, and after how long. */

/** How often a request is sent, and the bounds of the pauses between, in milliseconds. */
export interface Retries {
  attempts: number;
  baseMs: number;
  longestMs: number;
}

export const RETRIES: Retries = { attempts: 5, baseMs: 200, longestMs: 30_000 };

/** Statuses that say nothing was done and a later request may succeed. */
const PASSING = new Set([408, 429, 502, 503, 504]);

/** Statuses with which the service refuses before it does anything. */
const UNTOUCHED = new Set([429, 503]);

/** Return whether a refusal passes; what must not arrive twice is repeated only if it was not carried out. */
export function passes(status: number, repeatable: boolean): boolean {
  return repeatable ? PASSING.has(status) : UNTOUCHED.has(status);
}

/** Return the pause before the next attempt: at least `Retry-After`, else exponential with full jitter. */
export function pause(retries: Retries, attempt: number, retryAfter: string | null): number {
  const spread = Math.random() * Math.min(retries.longestMs, retries.baseMs * 2 ** attempt);
  const asked = retryAfterMs(retryAfter, Date.now());
  return asked === undefined ? spread : asked + Math.min(spread, 1_000);
}

/** Return the milliseconds of `Retry-After`, given in seconds or as a date. */
export function retryAfterMs(said: string | null, now: number): number | undefined {
  const text = said?.trim();
  if (!text) return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

/** Wait; an aborted signal ends the wait with its reason. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

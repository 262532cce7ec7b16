/** The position that lets a replica of the service show what this client has written. */

export const POSITION = "imprint-position";

/** The furthest position that answers had. */
export class LastPosition {
  #text = "";

  /** Headers of the next request. */
  get headers(): Record<string, string> {
    return this.#text ? { [POSITION]: this.#text } : {};
  }

  /**
   * Note the position of an answer to a request that was sent with another one.
   *
   * An answer behind what was sent comes from a log that begins anew, such as that of a restored database.
   */
  note(sent: string | null, answered: string | null): void {
    const [known, before, reached] = [bytesOf(this.#text), bytesOf(sent), bytesOf(answered)];
    if (reached > known || (reached > 0n && reached < before && before <= known)) this.#text = answered ?? "";
  }
}

function bytesOf(position: string | null): bigint {
  const parts = /^([0-9A-Fa-f]{1,8})\/([0-9A-Fa-f]{1,8})$/.exec(position ?? "");
  return parts ? (BigInt(`0x${parts[1]}`) << 32n) + BigInt(`0x${parts[2]}`) : 0n;
}

/** Errors of the client. */

/** A fault of a request: where it is, and what to send instead. */
export interface Fault {
  pointer: string;
  detail: string;
}

/** A request that the service refused (RFC 9457). */
export class ImprintError extends Error {
  override readonly name: string = "ImprintError";

  constructor(
    readonly status: number,
    readonly title: string,
    readonly detail: string,
    readonly errors: readonly Fault[] = [],
  ) {
    super(detail ? `${status} ${title}: ${detail}` : `${status} ${title}`);
  }
}

/** A webhook whose signature, age or sender is wrong; answer it with 401. */
export class SignatureError extends Error {
  override readonly name = "SignatureError";
}

/** Return the problem document of an answer as an error. */
export async function errorOf(answer: Response): Promise<ImprintError> {
  const problem = await problemOf(answer);
  return new ImprintError(
    answer.status,
    typeof problem["title"] === "string" ? problem["title"] : answer.statusText,
    typeof problem["detail"] === "string" ? problem["detail"] : "",
    Array.isArray(problem["errors"]) ? (problem["errors"] as Fault[]) : [],
  );
}

async function problemOf(answer: Response): Promise<Record<string, unknown>> {
  try {
    const said: unknown = await answer.json();
    return typeof said === "object" && said !== null ? (said as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

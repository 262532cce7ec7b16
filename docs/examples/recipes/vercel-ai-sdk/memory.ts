/** Long-term memory as a middleware: what is known goes into the prompt, and what is said is recorded. */

import { createHash } from "node:crypto";

import type { LanguageModelV4Message, LanguageModelV4Prompt, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { LanguageModelMiddleware } from "ai";
import type { Session } from "imprint-client";

export interface MemoryOptions {
  /** Tokens of what is known; the conversation itself is already in the prompt. */
  maxTokens?: number;
  /** Told when the memory does not answer; the model is asked all the same. */
  onError?: (error: unknown) => void;
}

/** Shares of the tokens: next to nothing for recent messages, which the prompt has. */
const BUDGET = { system: 0.35, long_term: 0.5, short_term: 0.05, reserve: 0.1 };

/** Return a middleware that remembers across conversations of the session's user. */
export function memoryOf(session: Session, options: MemoryOptions = {}): LanguageModelMiddleware {
  const onError = options.onError ?? ((error: unknown) => console.warn("imprint:", error));
  const known = new Map<string, string>();

  async function recall(question: Question): Promise<string> {
    // A step after a tool call asks again with the same question: the answer stays, and nothing is recorded twice.
    const earlier = known.get(question.id);
    if (earlier !== undefined) return earlier;
    const context = await session.context(question.text, {
      format: "text",
      max_tokens: options.maxTokens ?? 1_500,
      budget: BUDGET,
    });
    known.set(question.id, context.text ?? "");
    // After the context was built: the question must not find itself.
    await session.add("user", question.text, { message_id: question.id });
    return context.text ?? "";
  }

  async function record(text: string): Promise<void> {
    if (!text.trim()) return;
    try {
      await session.add("assistant", text);
    } catch (error) {
      onError(error);
    }
  }

  return {
    specificationVersion: "v4",

    async transformParams({ params }) {
      const question = questionOf(params.prompt, session.id);
      if (question === undefined) return params;
      try {
        return { ...params, prompt: withKnown(params.prompt, await recall(question)) };
      } catch (error) {
        onError(error);
        return params;
      }
    },

    async wrapGenerate({ doGenerate }) {
      const result = await doGenerate();
      await record(result.content.map((part) => (part.type === "text" ? part.text : "")).join(""));
      return result;
    },

    async wrapStream({ doStream }) {
      const result = await doStream();
      let said = "";
      const listen = new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
        transform(part, controller) {
          if (part.type === "text-delta") said += part.delta;
          controller.enqueue(part);
        },
        flush: () => record(said),
      });
      return { ...result, stream: result.stream.pipeThrough(listen) };
    },
  };
}

interface Question {
  id: string;
  text: string;
}

/** Return the newest message of the user, with an id that it has in every step and every repetition. */
function questionOf(prompt: LanguageModelV4Prompt, sessionId: string): Question | undefined {
  const place = prompt.findLastIndex((message) => message.role === "user");
  const text = place < 0 ? "" : textOf(prompt[place]);
  if (!text) return undefined;
  const turn = prompt.slice(0, place).filter((message) => message.role === "user").length;
  return { id: createHash("sha256").update(JSON.stringify([sessionId, turn, text])).digest("hex").slice(0, 32), text };
}

function textOf(message: LanguageModelV4Message | undefined): string {
  if (message?.role !== "user") return "";
  return message.content.map((part) => (part.type === "text" ? part.text : "")).join("\n").trim();
}

/** Return the prompt with what is known behind its own instructions. */
function withKnown(prompt: LanguageModelV4Prompt, known: string): LanguageModelV4Prompt {
  if (!known) return prompt;
  const own = prompt.findIndex((message) => message.role !== "system");
  const message: LanguageModelV4Message = {
    role: "system",
    content: `Known from earlier conversations with this user:\n\n${known}`,
  };
  return [...prompt.slice(0, own), message, ...prompt.slice(own)];
}

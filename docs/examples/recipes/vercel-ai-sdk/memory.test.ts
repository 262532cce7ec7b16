/** The recipe with the SDK's own mock of a model, against a running stack: IMPRINT_URL and IMPRINT_API_KEY say which. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";

import type { LanguageModelV4CallOptions, LanguageModelV4Content, LanguageModelV4GenerateResult } from "@ai-sdk/provider";
import { generateText, isStepCount, streamText, tool, wrapLanguageModel } from "ai";
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";
import { Imprint } from "imprint-client";
import { z } from "zod";

import { memoryOf } from "./memory.js";

const client = new Imprint();
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

function saying(...content: LanguageModelV4Content[]): LanguageModelV4GenerateResult {
  const called = content.some((part) => part.type === "tool-call");
  return { content, finishReason: { unified: called ? "tool-calls" : "stop", raw: undefined }, usage, warnings: [] };
}

function promptOf(call: LanguageModelV4CallOptions | undefined): string {
  return JSON.stringify(call?.prompt);
}

test("what was said in one conversation is in the prompt of the next one", async () => {
  const userId = randomUUID();
  const first = client.session({ userId });
  const teacher = new MockLanguageModelV4({ doGenerate: saying({ type: "text", text: "Noted." }) });
  const model = wrapLanguageModel({ model: teacher, middleware: memoryOf(first) });
  await generateText({ model, instructions: "Be brief.", prompt: "I moved to Lisbon in May." });
  assert.doesNotMatch(promptOf(teacher.doGenerateCalls[0]), /Known from earlier/);
  assert.deepEqual((await first.messages()).map((one) => [one.role, one.content]), [
    ["user", "I moved to Lisbon in May."],
    ["assistant", "Noted."],
  ]);
  await first.end();
  assert.equal(await first.settle({ timeoutMs: 60_000, flush: true }), true);

  const second = client.session({ userId });
  const parts = ["In ", "Lisbon."].map((delta) => ({ type: "text-delta" as const, id: "1", delta }));
  const streamer = new MockLanguageModelV4({
    doStream: async () => ({
      stream: simulateReadableStream({
        chunks: [
          { type: "text-start", id: "1" },
          ...parts,
          { type: "text-end", id: "1" },
          { type: "finish", finishReason: { unified: "stop", raw: undefined }, usage },
        ],
      }),
    }),
  });
  const { textStream } = streamText({
    model: wrapLanguageModel({ model: streamer, middleware: memoryOf(second) }),
    instructions: "Be brief.",
    prompt: "Where do I live?",
  });
  let said = "";
  for await (const piece of textStream) said += piece;
  assert.equal(said, "In Lisbon.");
  const [own, known] = streamer.doStreamCalls[0]?.prompt ?? [];
  assert.equal(own?.content, "Be brief.");
  assert.match(String(known?.content), /Known from earlier conversations[\s\S]*Lisbon/);
  assert.deepEqual((await second.messages()).map((one) => one.content), ["Where do I live?", "In Lisbon."]);
});

test("a question is recorded once, however many steps its answer takes", async () => {
  const session = client.session({ userId: randomUUID() });
  const answers = [
    saying({ type: "tool-call", toolCallId: "1", toolName: "clock", input: "{}" }),
    saying({ type: "text", text: "It is noon." }),
  ];
  const mock = new MockLanguageModelV4({ doGenerate: answers });
  await generateText({
    model: wrapLanguageModel({ model: mock, middleware: memoryOf(session) }),
    prompt: "What time is it?",
    tools: { clock: tool({ inputSchema: z.object({}), execute: async () => "12:00" }) },
    stopWhen: isStepCount(3),
  });
  assert.equal(mock.doGenerateCalls.length, 2);
  assert.deepEqual((await session.messages()).map((one) => one.content), ["What time is it?", "It is noon."]);
});

test("a memory that does not answer does not stop the model", async () => {
  const gone = new Imprint({ baseUrl: "http://127.0.0.1:9", key: "k", retries: { attempts: 1 } });
  const errors: unknown[] = [];
  const middleware = memoryOf(gone.session({ userId: "ada" }), { onError: (error) => errors.push(error) });
  const mock = new MockLanguageModelV4({ doGenerate: saying({ type: "text", text: "Hello." }) });
  const { text } = await generateText({ model: wrapLanguageModel({ model: mock, middleware }), prompt: "Hello?" });
  assert.equal(text, "Hello.");
  assert.equal(errors.length, 2);
});

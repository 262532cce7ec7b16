/** The client against a whole stack: IMPRINT_URL and IMPRINT_API_KEY say which. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";

import { Imprint, ImprintError, verifyWebhook } from "imprint-client";

const client = new Imprint({ source: "js-test" });

test("what was said in a session is known in the next one", async () => {
  const userId = randomUUID();
  const session = client.session({ userId });
  await session.add("user", "I moved to Lisbon in May.");
  await session.add("assistant", "Good to know.", { importance: 0.1 });
  await session.add("user", "My cat is called Tom.");
  await session.end();
  assert.equal(await session.settle({ timeoutMs: 60_000, flush: true }), true);

  const next = client.session({ userId });
  const found = await next.search("Where do I live?");
  assert.ok(found.some((one) => one.type === "memory" && /Lisbon/.test(one.content)), JSON.stringify(found));
  const context = await next.context("Where do I live?", { max_tokens: 1_000 });
  assert.match(JSON.stringify(context.messages), /Lisbon/);
  assert.ok(context.total_tokens <= 1_000);
  const messages = await session.messages();
  assert.deepEqual(messages.map((one) => one.role), ["user", "assistant", "user"]);
});

test("somebody is read about under any name", async () => {
  const user_id = randomUUID();
  await client.memories.add({ user_id, content: "Caz sings in a choir." });
  assert.equal((await client.mergeNames({ user_id, names: ["Caroline", "Caz"] })).name, "Caroline");
  const page = await client.about("Caroline", { user_id, limit: 5 });
  assert.deepEqual(page.items.map((one) => one.content), ["Caz sings in a choir."]);
});

test("a memory is stated, edited, pinned, explained and forgotten", async () => {
  const user_id = randomUUID();
  const kept = await client.memories.add({ user_id, content: "Ada lives in Porto.", attribute: "home.city", value: "Porto" });
  assert.equal(kept.verdict, "add");
  const { id, version } = kept.memory;
  const edited = await client.memories.edit(id, { content: "Ada lives in Braga.", value: "Braga", version });
  assert.equal(edited.content, "Ada lives in Braga.");
  await assert.rejects(client.memories.edit(id, { content: "Ada lives in Faro.", version }), { status: 409 });
  assert.equal((await client.memories.pin(id)).pinned, true);
  assert.deepEqual((await client.memories.history(id)).map((one) => one.change), ["add", "edit", "pin"]);
  assert.equal((await client.memories.why(id)).memory.id, id);
  assert.equal((await client.memories.get(id)).value, "Braga");
  const receipt = await client.memories.forget(id);
  assert.equal(receipt.receipt.scope, "memory");
  await assert.rejects(client.memories.get(id), (error) => error instanceof ImprintError && error.status === 404);
});

test("all memories of a user are listed, page by page", async () => {
  const user_id = randomUUID();
  const facts = ["plays the cello", "runs on Sundays", "collects old maps", "speaks Portuguese", "owns a boat"];
  for (const fact of facts) await client.memories.add({ user_id, content: `Ada ${fact}.` });
  const contents = [];
  for await (const memory of client.memories.list({ user_id, limit: 2 })) contents.push(memory.content);
  assert.deepEqual(contents.sort(), facts.map((fact) => `Ada ${fact}.`).sort());
});

test("events are published in batches, known again, and traced", async () => {
  const user_id = randomUUID();
  const several = Array.from({ length: 1_001 }, (_, n) => ({ event_type: "js.counted", id: `${user_id}-${n}`, payload: { user_id } }));
  const first = await client.events.publish(several);
  assert.deepEqual([first.accepted, first.duplicates, first.events.length], [1_001, 0, 1_001]);
  const again = await client.events.publish(several.slice(0, 2));
  assert.deepEqual([again.accepted, again.duplicates], [0, 2]);
  assert.equal((await client.events.get(`${user_id}-0`)).source, "js-test");
  assert.equal((await client.events.trace(`${user_id}-0`)).event.event_type, "js.counted");
});

test("the log is followed from a position on, with nothing lost between two connections", async () => {
  const userId = randomUUID();
  const over = new AbortController();
  const publish = (n) => client.events.publish({ event_type: "js.followed", payload: { user_id: userId, n } });
  await publish(0);
  const stored = [];
  for await (const event of client.stream({ types: ["js.*"], userId, after: "0", follow: false })) stored.push(event);
  assert.deepEqual(stored.map((one) => one.payload.n), [0]);
  await publish(1); // While nobody follows.
  const live = client.stream({ types: ["js.*"], userId, after: stored[0].position, signal: over.signal });
  assert.equal((await live.next()).value.payload.n, 1);
  await publish(2);
  assert.equal((await live.next()).value.payload.n, 2);
  await live.return();
});

test("a webhook that the service signed is read", async () => {
  const { body, headers, secret, tenant } = JSON.parse(process.env.IMPRINT_SIGNED_WEBHOOK);
  assert.deepEqual(await verifyWebhook({ body, headers, secret, tenant }), JSON.parse(body));
});

test("an unknown key is refused with what to do", async () => {
  const stranger = new Imprint({ key: "imp.nobody.x.y" });
  await assert.rejects(stranger.search({ query: "x", user_id: "ada" }), { status: 401 });
});

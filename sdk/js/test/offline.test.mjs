/** What needs no service: repeats, refusals, frames of the stream, signatures. A server here plays the service. */

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { after, test } from "node:test";

import { Imprint, ImprintError, SignatureError, verifyWebhook } from "imprint-client";

const servers = [];
after(() => servers.forEach((one) => one.closeAllConnections()));
after(() => servers.forEach((one) => one.close()));

/** A service that answers as told, and the requests it got. */
async function service(answer) {
  const requests = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => (body += piece));
    request.on("end", () => {
      requests.push({ method: request.method, url: request.url, headers: request.headers, body, at: Date.now() });
      answer(requests.length, response, request);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  servers.push(server);
  return { requests, baseUrl: `http://127.0.0.1:${server.address().port}` };
}

function clientOf({ baseUrl }, more = {}) {
  return new Imprint({ baseUrl, key: "k", retries: { baseMs: 1 }, ...more });
}

function json(response, status, body, headers = {}) {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

test("a refusal that passes is repeated, not before Retry-After", async () => {
  const told = await service((n, response) =>
    n === 1 ? json(response, 429, {}, { "retry-after": "1" }) : json(response, 200, { settled: true, pending: 0 }),
  );
  assert.equal(await clientOf(told).settle("t"), true);
  const [first, second] = told.requests;
  assert.ok(second.at - first.at >= 990, `${second.at - first.at} ms`);
  assert.equal(first.headers.authorization, "Bearer k");
});

test("a refusal for good is an error with its places", async () => {
  const told = await service((_n, response) =>
    json(response, 422, { title: "Invalid", detail: "d", errors: [{ pointer: "/query", detail: "d" }] }),
  );
  await assert.rejects(clientOf(told).search({ query: "" }), (error) => {
    assert.ok(error instanceof ImprintError);
    assert.equal(error.status, 422);
    assert.deepEqual(error.errors, [{ pointer: "/query", detail: "d" }]);
    return true;
  });
  assert.equal(told.requests.length, 1);
});

test("an event keeps its id when its request is repeated", async () => {
  const told = await service((n, response) =>
    n === 1
      ? response.destroy()
      : json(response, 202, { accepted: 1, duplicates: 0, events: [{ id: "x", duplicate: false }], settle_token: "t" }),
  );
  await clientOf(told).events.publish({ event_type: "a", payload: {} });
  const [first, second] = told.requests.map((one) => JSON.parse(one.body));
  assert.deepEqual(first, second);
  assert.match(first[0].id, /^[0-9a-f-]{36}$/);
});

test("what must not arrive twice is not repeated after a lost connection", async () => {
  const told = await service((_n, response) => response.destroy());
  await assert.rejects(clientOf(told).memories.forget("m"));
  assert.equal(told.requests.length, 1);
});

test("more than a thousand events go in batches", async () => {
  const told = await service((n, response, _request) =>
    json(response, 202, { accepted: 1_000, duplicates: 0, events: [], settle_token: `t${n}` }),
  );
  const several = Array.from({ length: 2_001 }, () => ({ event_type: "a" }));
  const all = await clientOf(told).events.publish(several);
  assert.deepEqual(told.requests.map((one) => JSON.parse(one.body).length), [1_000, 1_000, 1]);
  assert.equal(all.settle_token, "t3");
});

test("a stream that was cut off goes on after the last event received, and takes none twice", async () => {
  const frame = (id) => `id: ${id}\nevent: a\ndata: {"event_type":"a","seq":${id},\ndata: "id":"e${id}"}\n\n`;
  const told = await service((n, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (n === 1) {
      response.write(frame(1) + frame(2).slice(0, 9));
      setTimeout(() => response.write(frame(2).slice(9)), 10);
      setTimeout(() => response.write(`id: 7\nevent: stream.position\ndata: {"position":"7"}\n\nid: 8\nevent: a\ndata: {"se`), 20); // Cut off within a frame.
      setTimeout(() => response.destroy(), 40);
    } else {
      response.end(frame(8));
    }
  });
  const got = [];
  for await (const event of clientOf(told).stream({ after: "0", types: ["a", "memory.*"] })) {
    got.push([event.id, event.position]);
    if (got.length === 3) break;
  }
  assert.deepEqual(got, [["e1", "1"], ["e2", "2"], ["e8", "8"]]);
  assert.deepEqual(told.requests.map((one) => one.headers["last-event-id"]), ["0", "7"]);
  assert.match(told.requests[0].url, /types=a%2Cmemory\.\*/);
});

test("a stream that is refused for good ends with the error", async () => {
  const told = await service((_n, response) => json(response, 403, { title: "Forbidden", detail: "no scope" }));
  await assert.rejects(clientOf(told).stream().next(), /403 Forbidden: no scope/);
});

test("a signal ends a stream", async () => {
  const told = await service((_n, response) => response.writeHead(200, { "content-type": "text/event-stream" }).write(":\n\n"));
  const over = new AbortController();
  setTimeout(() => over.abort(new Error("over")), 30);
  await assert.rejects(clientOf(told).stream({ signal: over.signal }).next(), /over/);
});

const SECRET = `whsec_${Buffer.from("a secret of some bytes").toString("base64")}`;

function signed(body, { id = "acme:1", now = 1_000, secret = SECRET } = {}) {
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${now}.${body}`).digest("base64");
  return { "Webhook-Id": id, "webhook-timestamp": String(now), "webhook-signature": `v1,AAAA v1,${signature}` };
}

test("a webhook of the tenant is read; one that was changed, is old, or is another's is not", async () => {
  const body = '{"a":1}';
  const check = { body, headers: signed(body), secret: `whsec_AAAA ${SECRET}`, tenant: "acme", now: 1_100 };
  assert.deepEqual(await verifyWebhook(check), { a: 1 });
  assert.deepEqual(await verifyWebhook({ ...check, headers: new Headers(signed(body)) }), { a: 1 });
  const wrong = { name: "SignatureError" };
  await assert.rejects(verifyWebhook({ ...check, body: '{"a":2}' }), wrong);
  await assert.rejects(verifyWebhook({ ...check, now: 1_301 }), wrong);
  await assert.rejects(verifyWebhook({ ...check, tenant: "globex" }), wrong);
  await assert.rejects(verifyWebhook({ ...check, headers: {} }), wrong);
  await assert.rejects(verifyWebhook({ ...check, secret: "whsec_AAAA" }), wrong);
  assert.ok(new SignatureError("x") instanceof Error);
});

test("a client sends the furthest position, until the log of the service begins anew", async () => {
  const positions = ["0/A0", undefined, "0/90", "1/0", "0/20", "0/30"];
  const told = await service((n, response) => {
    const position = positions[n - 1];
    json(response, 200, { results: [] }, position ? { "imprint-position": position } : {});
  });
  const client = clientOf(told);
  for (const _ of positions) await client.search({ query: "x", user_id: "ada" });
  const sent = told.requests.map((request) => request.headers["imprint-position"]);
  assert.deepEqual(sent, [undefined, "0/A0", "0/A0", "0/90", "1/0", "0/20"]);
  await client.request("GET", "/x", { headers: { "Imprint-POSITION": "latest" } });
  assert.equal(told.requests.at(-1).headers["imprint-position"], "latest");
});

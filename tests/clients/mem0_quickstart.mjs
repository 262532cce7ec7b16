// The quickstart of mem0's SDK for Node, run by test_mem0.py; prints what came back.
import { MemoryClient } from "mem0ai";

const host = process.argv[2];
const client = new MemoryClient({ apiKey: process.env.MEM0_API_KEY, host });
const messages = [
  { role: "user", content: "I'm a vegetarian and allergic to nuts." },
  { role: "assistant", content: "Got it! I'll remember your dietary preferences." },
];
const filters = { user_id: "user456" };
const added = await client.add(messages, { userId: "user456", metadata: { tripNumber: 7 } });

let results = [];
for (let n = 0; n < 240 && results.length === 0; n++) {
  ({ results } = await client.search("What are my dietary restrictions?", { filters }));
  if (results.length === 0) await new Promise((done) => setTimeout(done, 250));
}
const listed = await client.getAll({ filters, page: 1, pageSize: 1 });
const id = results[0].id;
const updated = await client.update(id, { text: "User456 is vegan." });
const history = await client.history(id);
await client.batchUpdate([{ memoryId: id, text: "User456 is a vegetarian again." }]);
const got = await client.get(id);
await client.batchDelete([id]);
const missing = await client.get(id).then(() => false, () => true);
await client.deleteAll({ userId: "user456" });
const left = await client.getAll({ filters });
const users = await client.users();
const erased = await client.deleteUsers({ userId: "user456" });
console.log(JSON.stringify({
  status: added.status,
  memories: results.map((one) => one.memory),
  metadata: results[0].metadata,
  page: [listed.count, listed.results.length],
  updated: updated.memory,
  history: history.map((one) => one.event),
  got: got.memory,
  missing,
  left: left.count,
  users: users.results.length,
  erased: erased.message,
}));

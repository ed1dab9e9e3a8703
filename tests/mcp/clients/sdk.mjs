// The official SDK as a client: `node sdk.mjs PLAN` with the plan as JSON on standard input: the server's
// command and arguments, what the person answers, and the steps. Prints one JSON line for each step.
// Each structured result is held to the tool's output schema by the SDK itself.
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema, LoggingMessageNotificationSchema, ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

const lines = createInterface({ input: process.stdin });
const plan = JSON.parse((await lines[Symbol.asyncIterator]().next()).value);
const say = (step) => console.log(JSON.stringify(step));

const capabilities = plan.person ? { elicitation: {} } : {};
const client = new Client({ name: "pinfold-test", version: "0" }, { capabilities });
if (plan.person) {
  client.setRequestHandler(ElicitRequestSchema, async (request) => {
    say({ question: request.params.message });
    return { action: plan.person, content: {} };
  });
}
for (const schema of [LoggingMessageNotificationSchema, ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema]) {
  client.setNotificationHandler(schema, (told) => say({ told: told.method, params: told.params }));
}
client.onerror = (error) => say({ clientError: String(error) });

const transport = new StdioClientTransport({
  command: plan.command, args: plan.args, cwd: plan.cwd, env: plan.env, stderr: "inherit" });
await client.connect(transport);
say({ server: client.getServerVersion(), capabilities: client.getServerCapabilities(),
  instructions: client.getInstructions() });

const steps = {
  list: () => client.listTools(),
  call: ({ name, arguments: given }) => client.callTool({ name, arguments: given }),
  progress: async ({ name, arguments: given }) => {
    const seen = [];
    const result = await client.callTool({ name, arguments: given }, undefined,
      { onprogress: (one) => seen.push(one) });
    return { result, seen };
  },
  cancel: async ({ name, arguments: given, after }) => {
    const control = new AbortController();
    setTimeout(() => control.abort("enough"), after);
    try {
      return await client.callTool({ name, arguments: given }, undefined, { signal: control.signal });
    } catch (error) {
      return { rejected: String(error) };
    }
  },
  together: async ({ calls }) => {
    const order = [];
    await Promise.all(calls.map(async ({ name, arguments: given }, i) => {
      await client.callTool({ name, arguments: given });
      order.push(i);
    }));
    return { order };
  },
  ping: () => client.ping(),
  level: ({ level }) => client.setLoggingLevel(level),
  resources: () => client.listResources(),
  read: ({ uri }) => client.readResource({ uri }),
  subscribe: ({ uri }) => client.subscribeResource({ uri }),
};
for (const step of plan.steps) {
  try {
    say({ step: step.do, answer: await steps[step.do](step) });
  } catch (error) {
    say({ step: step.do, error: String(error), code: error.code });
  }
}
await client.close();
say({ closed: true });

// Next calls this once when the server starts: the queue is worked off beside the requests.
export async function register() {
  if (process.env.NEXT_RUNTIME !== "nodejs") return;
  const { work } = await import("./inbox.js");
  work((order) => console.log(`paid: ${order}`)).catch(console.error); // in your shop: fulfil it
}

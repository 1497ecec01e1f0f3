// Reads server-sent events from a fetched body, because EventSource cannot send headers.

interface StreamEvent {
  id: string | undefined;
  type: string;
  data: string;
}

/** Calls back for each event, and without an event for each comment, which is a ping. Ends with the body. */
export async function readEvents(
  body: ReadableStream<Uint8Array>,
  take: (event: StreamEvent | undefined) => void,
): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += value;
    const blocks = rest.split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? "";
    for (const block of blocks) take(eventOf(block));
  }
}

function eventOf(block: string): StreamEvent | undefined {
  const event: StreamEvent = { id: undefined, type: "message", data: "" };
  let hasData = false;
  for (const line of block.split(/\r?\n/)) {
    const [, name, value = ""] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (name === "id") event.id = value;
    if (name === "event") event.type = value;
    if (name === "data") {
      event.data += hasData ? `\n${value}` : value;
      hasData = true;
    }
  }
  return hasData ? event : undefined;
}

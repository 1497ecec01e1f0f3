// A mail server of a few lines on a real socket, for tests.
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

const answers: Record<string, string> = {
  EHLO: "250-test\r\n250 AUTH PLAIN\r\n",
  STARTTLS: "502 not here\r\n",
  AUTH: "235 welcome\r\n",
  QUIT: "221 bye\r\n",
};

interface MailServer {
  url: string;
  taken: string[];
  recipients: string[];
  /** Every line that came, as it came. */
  lines: string[];
  close: () => void;
}

/** Answers as a mail server without TLS, on every address of this machine; `refuses` everybody it should send to. */
export async function mailServer(refuses = false): Promise<MailServer> {
  const taken: string[] = [];
  const heard: string[] = [];
  const recipients: string[] = [];
  const server = createServer((socket) => {
    let letter: string | undefined;
    let rest = "";
    socket.setEncoding("utf8");
    socket.on("error", () => socket.destroy());
    socket.write("220 test\r\n");
    socket.on("data", (text: string) => {
      const lines = (rest + text).split("\r\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        heard.push(line);
        if (letter !== undefined && line !== ".") letter += `${line}\n`;
        else if (letter !== undefined) {
          taken.push(letter);
          letter = undefined;
          socket.write("250 taken\r\n");
        } else if (line === "DATA") {
          letter = "";
          socket.write("354 go on\r\n");
        } else if (line.startsWith("RCPT TO:")) {
          recipients.push(line.slice(8));
          socket.write(refuses ? "550 nobody here\r\n" : "250 ok\r\n");
        } else socket.write(answers[line.split(" ", 1)[0] ?? ""] ?? "250 ok\r\n");
      }
    });
  });
  server.listen(0, "0.0.0.0");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { url: `smtp://127.0.0.1:${port}`, taken, recipients, lines: heard, close: () => void server.close() };
}

// A secret, shown once: to copy, to keep as an .env file, and to try at once.
import { useSession } from "../../../api/session.ts";
import { Button } from "../../../ui/button.tsx";
import { Code } from "../../../ui/code.tsx";
import { callWithCurl } from "../../../ui/curl.tsx";
import { save } from "../../../ui/download.ts";
import { Once } from "../../../ui/once.tsx";

interface Props {
  clientId: string;
  secret: string;
  onClose: () => void;
}

export function KeySecret({ clientId, secret, onClose }: Props) {
  const baseUrl = useSession()?.service.base_url ?? `${location.origin}/v1`;
  const env = `GERBANG_CLIENT_ID=${clientId}\nGERBANG_SECRET=${secret}\nGERBANG_BASE_URL=${baseUrl}\n`;
  const call = `GERBANG_CLIENT_ID=${clientId}; GERBANG_SECRET=${secret}\n${callWithCurl({ path: "/v1/payments?limit=1" }, baseUrl)}`;
  return (
    <Once>
      <p>
        This secret is shown <strong>only once</strong>. Keep it where your system can read it, and nowhere else.
      </p>
      <Labelled label="client_id" text={clientId} />
      <Labelled label="secret" text={secret} />
      <details>
        <summary className="inline-flex min-h-6 items-center text-muted hover:text-ink">Try it in a terminal</summary>
        <div className="mt-2">
          <Code text={call} what="the call with this key" />
        </div>
      </details>
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={() => save(new Blob([env], { type: "text/plain" }), "gerbang.env")}>Save as .env</Button>
        <Button look="primary" onClick={onClose}>
          I have kept it
        </Button>
      </div>
    </Once>
  );
}

function Labelled({ label, text }: { label: string; text: string }) {
  return (
    <div>
      <p className="mb-1 font-medium">{label}</p>
      <Code text={text} what={`the ${label}`} wrap />
    </div>
  );
}

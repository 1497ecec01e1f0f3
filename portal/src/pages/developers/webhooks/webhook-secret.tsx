// A signing secret of webhooks, shown once.
import { Button } from "../../../ui/button.tsx";
import { Code } from "../../../ui/code.tsx";
import { save } from "../../../ui/download.ts";
import { Once } from "../../../ui/once.tsx";

export function WebhookSecret({ secret, onClose }: { secret: string; onClose: () => void }) {
  const env = new Blob([`GERBANG_WEBHOOK_SECRET=${secret}\n`], { type: "text/plain" });
  return (
    <Once>
      <p>
        Your receiver verifies deliveries with this secret. It is shown <strong>only once</strong>; rotating gives you a
        new one.
      </p>
      <Code text={secret} what="the signing secret" wrap />
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={() => save(env, "gerbang-webhook.env")}>Save as .env</Button>
        <Button look="primary" onClick={onClose}>
          I have kept it
        </Button>
      </div>
    </Once>
  );
}

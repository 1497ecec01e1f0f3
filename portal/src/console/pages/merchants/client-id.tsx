// One key of a merchant: what the requests that it signed have changed, newest first. Read when a key is out, before or after it is revoked.
import { usePart } from "../../../address.ts";
import { Changes } from "../../../pages/developers/keys/changes.tsx";
import { useCursor, useList } from "../../../ui/list.ts";
import { Page as Frame } from "../../../ui/page.tsx";
import { read } from "../../api/client.ts";
import { pageOfChanged } from "../../found.ts";
import { at } from "../../paths.ts";
import { useMerchantName } from "./book.tsx";

export function Page() {
  const id = usePart("id");
  const clientId = usePart("client_id");
  const name = useMerchantName(id);
  const cursor = useCursor();
  const list = useList(
    read("/v1/merchants/{id}/credentials/{client_id}/changes", {
      path: { id, client_id: clientId },
      query: cursor.query,
    }),
  );
  const environment = clientId.startsWith("ak_live_") ? "production" : "sandbox";
  return (
    <Frame
      title="What a key changed"
      lead={`Every change made by a request signed with ${clientId} of ${name}, and where it came from. Entries cannot be edited or removed.`}
      above={{ to: at.access(id), label: `Access of ${name}` }}
      curl={{ path: `/v1/merchants/${id}/credentials/${clientId}/changes` }}
    >
      <Changes list={list} cursor={cursor} pageOf={(object) => pageOfChanged(object, id, environment)} />
    </Frame>
  );
}

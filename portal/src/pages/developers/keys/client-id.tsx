// One key: what the requests that it signed have changed, newest first.
import { usePart } from "../../../address.ts";
import { useApi, usePlace } from "../../../api/place.ts";
import { pageOfObject, paths } from "../../../paths.ts";
import { useCursor, useList } from "../../../ui/list.ts";
import { Page as Frame } from "../../../ui/page.tsx";
import { Changes } from "./changes.tsx";

export function Page() {
  const place = usePlace();
  const id = usePart("client_id");
  const cursor = useCursor();
  const list = useList(
    useApi().read("/v1/credentials/{client_id}/changes", { path: { client_id: id }, query: cursor.query }),
  );
  return (
    <Frame
      title="What a key changed"
      lead={`Every change made by a request signed with ${id}, and where it came from. Entries cannot be edited or removed.`}
      above={{ to: paths.keys(place), label: "Keys" }}
    >
      <Changes list={list} cursor={cursor} pageOf={(object) => pageOfObject(place, object)} />
    </Frame>
  );
}

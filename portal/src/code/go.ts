// Writes a call in Go, with only its standard library.
import { type SignedCall, quoted, written } from "./call.ts";

export function goOf({ method, url, body, key }: SignedCall): string {
  const object =
    body &&
    written(
      body,
      {
        text: quoted,
        name: (field) => `${quoted(field)}: `,
        open: "map[string]any{",
        close: "}",
        trailing: true,
        indent: "\t",
      },
      1,
    );
  const made =
    object === undefined
      ? ["\tbody := []byte{}"]
      : ["\t// What is signed is what is sent, to the byte.", `\tbody, err := json.Marshal(${object})`, ...mustSucceed];
  const packages = [
    "bytes",
    "crypto/hmac",
    "crypto/sha256",
    "encoding/hex",
    "encoding/json",
    "fmt",
    "io",
    "net/http",
    "os",
    "strconv",
    "time",
  ];
  return [
    "package main",
    "",
    "import (",
    ...packages.filter((one) => object !== undefined || one !== "encoding/json").map((one) => `\t"${one}"`),
    ")",
    "",
    "func main() {",
    ...made,
    "\ttimestamp := strconv.FormatInt(time.Now().Unix(), 10)",
    '\tmac := hmac.New(sha256.New, []byte(os.Getenv("GERBANG_SECRET")))',
    '\tmac.Write([]byte(timestamp + "."))',
    "\tmac.Write(body)",
    "",
    `\trequest, err := http.NewRequest(${quoted(method)}, ${quoted(url)}, bytes.NewReader(body))`,
    ...mustSucceed,
    '\trequest.Header.Set("Authorization", "Bearer "+os.Getenv("GERBANG_CLIENT_ID"))',
    '\trequest.Header.Set("X-Timestamp", timestamp)',
    '\trequest.Header.Set("X-Signature", hex.EncodeToString(mac.Sum(nil)))',
    ...(key === undefined
      ? []
      : [
          "\t// One key for one intent: a retry has the same, with a new timestamp and signature.",
          `\trequest.Header.Set("Idempotency-Key", ${quoted(key)})`,
        ]),
    ...(object === undefined ? [] : ['\trequest.Header.Set("Content-Type", "application/json")']),
    "",
    "\tresponse, err := (&http.Client{Timeout: 30 * time.Second}).Do(request)",
    ...mustSucceed,
    "\tdefer response.Body.Close()",
    "\tanswer, err := io.ReadAll(response.Body)",
    ...mustSucceed,
    "\tfmt.Println(response.StatusCode, string(answer))",
    "}",
  ].join("\n");
}

const mustSucceed = ["\tif err != nil {", "\t\tpanic(err)", "\t}"];

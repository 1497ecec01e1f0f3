// Writes a call in Java 17, with only its standard library.
import { type SignedCall, jsonOf, quoted } from "./call.ts";

export function javaOf({ method, url, body, key }: SignedCall): string {
  const publisher = body === undefined ? "BodyPublishers.noBody()" : "BodyPublishers.ofString(body)";
  return [
    "import java.net.URI;",
    "import java.net.http.*;",
    "import java.net.http.HttpRequest.BodyPublishers;",
    "import java.nio.charset.StandardCharsets;",
    "import java.time.*;",
    "import java.util.HexFormat;",
    "import javax.crypto.Mac;",
    "import javax.crypto.spec.SecretKeySpec;",
    "",
    "public class Call {",
    "    public static void main(String[] args) throws Exception {",
    ...(body === undefined
      ? ['        var body = "";']
      : ["        // What is signed is what is sent, to the byte.", ...textBlock(jsonOf(body))]),
    "        var timestamp = Long.toString(Instant.now().getEpochSecond());",
    '        var mac = Mac.getInstance("HmacSHA256");',
    '        mac.init(new SecretKeySpec(System.getenv("GERBANG_SECRET").getBytes(StandardCharsets.UTF_8), "HmacSHA256"));',
    '        var signed = (timestamp + "." + body).getBytes(StandardCharsets.UTF_8);',
    "        var signature = HexFormat.of().formatHex(mac.doFinal(signed));",
    "",
    `        var request = HttpRequest.newBuilder(URI.create(${quoted(url)}))`,
    `            .method(${quoted(method)}, ${publisher})`,
    '            .header("Authorization", "Bearer " + System.getenv("GERBANG_CLIENT_ID"))',
    '            .header("X-Timestamp", timestamp)',
    '            .header("X-Signature", signature)',
    ...(key === undefined
      ? []
      : [
          "            // One key for one intent: a retry has the same, with a new timestamp and signature.",
          `            .header("Idempotency-Key", ${quoted(key)})`,
        ]),
    ...(body === undefined ? [] : ['            .header("Content-Type", "application/json")']),
    "            .timeout(Duration.ofSeconds(30))",
    "            .build();",
    "        var response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());",
    '        System.out.println(response.statusCode() + " " + response.body());',
    "    }",
    "}",
  ].join("\n");
}

/**
 * A text block in ASCII, because older compilers read sources in the machine's own encoding. Every backslash is doubled, so that Java
 * leaves the JSON's escapes alone.
 */
function textBlock(text: string): string[] {
  const json = text.replaceAll(/[\u0080-\uFFFF]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const lines = json
    .replaceAll("\\", String.raw`\\`)
    .replaceAll('"""', String.raw`""\"`)
    .split("\n");
  return ['        var body = """', ...lines.map((line) => `            ${line}`)].map((line, at) =>
    at === lines.length ? `${line}""";` : line,
  );
}

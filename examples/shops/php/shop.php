<?php
// A shop in one file, with plain PHP: one product, paid by QRIS on the gateway's page, and the webhook that marks its order as paid.
declare(strict_types=1);
require 'Gerbang.php'; // beside this file, or vendor/autoload.php
ini_set('display_errors', '0');
$secret = getenv('GERBANG_WEBHOOK_SECRET') ?: throw new RuntimeException('Set GERBANG_WEBHOOK_SECRET: it begins with whsec_.');
$shopUrl = getenv('SHOP_URL') ?: 'http://localhost:' . (getenv('PORT') ?: '3000'); // where payers come back to
$database = new PDO('sqlite:' . (getenv('DATABASE') ?: __DIR__ . '/shop.sqlite'));
$orders = function (string $sql, string ...$values) use ($database): array {
    $statement = $database->prepare($sql);
    $statement->execute($values);
    return $statement->fetch(PDO::FETCH_ASSOC) ?: [];
};
$orders("create table if not exists orders (id text primary key, status text not null default 'open')");

function page(string $body, int $status = 200): never
{
    http_response_code($status);
    header('content-type: text/html; charset=utf-8');
    $style = 'font: 1rem/1.5 system-ui; max-width: 30rem; margin: 3rem auto';
    exit("<!doctype html><meta name=viewport content='width=device-width'><title>Kopi</title><body style='$style'><h1>Kopi</h1>$body");
}
// Said by the webhook, and by the service when somebody presses again, so perhaps twice: only an open order changes.
$end = fn (array $payment) => in_array($payment['status'], ['succeeded', 'partially_refunded', 'refunded', 'failed', 'expired', 'canceled'], true)
    && $orders("update orders set status = replace(?, 'partially_refunded', 'succeeded') where id = ? and status = 'open'", $payment['status'], $payment['reference_id']);
// The form has the order's name: who presses twice buys once, and who comes back pays for the same order.
$button = fn (string $id, string $text): string => "<form method=\"post\" action=\"/orders/$id\"><button>$text</button></form>";

[$method, $path] = [$_SERVER['REQUEST_METHOD'], parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH)];
if ("$method $path" === 'POST /webhooks') {
    try { // the bytes as they came
        ['type' => $type, 'data' => $data] = (new Gerbang\Webhooks())->unwrap(file_get_contents('php://input'), $_SERVER, $secret);
    } catch (Gerbang\WebhookException $error) {
        page($error->step, 401);
    }
    str_starts_with($type, 'payment.') && $end($data);
    exit();
}
$path === '/' && page('<p>A coffee, Rp75.000</p>' . $button('order-' . bin2hex(random_bytes(16)), 'Buy it'));
preg_match('~^/orders/(order-[0-9a-f]{32})$~D', $path, $asked) || page('<p>There is no such order.</p>', 404);
if ($method === 'POST') {
    $orders('insert or ignore into orders (id) values (?)', $asked[1]); // first: the webhook may be faster than the answer
    $coffee = ['amount_minor' => 7_500_000, 'currency' => 'IDR', 'payment_method' => 'qris'];
    try { // GERBANG_CLIENT_ID, GERBANG_SECRET, GERBANG_BASE_URL; short times, because a payer waits
        $payments = (new Gerbang\Client(['timeout' => 8, 'deadline' => 15]))->payments;
        $payment = $payments->createOrFind($coffee + ['reference_id' => $asked[1], 'return_url' => $shopUrl . $path]);
    } catch (Throwable $error) { // also keys that are not set
        error_log("payment: {$error->getCode()} {$error->getMessage()} " . ($error->advice ?? ''));
        page('<p>Payment is not possible now. Please try again.</p>', 502);
    }
    $end($payment);
    header('location: ' . ($payment['checkout_url'] ?? $shopUrl . $path), true, 303); // one that is paid has no page to pay at
    exit();
}
['status' => $status] = $orders('select status from orders where id = ?', $asked[1]) ?: page('<p>There is no such order.</p>', 404);
page(match ($status) {
    'open' => "<p>Waiting for Rp75.000.</p>{$button($asked[1], 'Pay')}<meta http-equiv='refresh' content='2'>",
    'succeeded' => '<p>Paid. Your coffee is on its way.</p>',
    default => '<p>Not paid. <a href="/">Try again</a></p>',
});

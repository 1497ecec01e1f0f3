<?php
// A shop in one file, with plain PHP: one product, a payment by QRIS, and the webhook that marks the order as paid.

declare(strict_types=1);

require 'Gerbang.php'; // beside this file, or vendor/autoload.php

ini_set('display_errors', '0');
$secret = getenv('GERBANG_WEBHOOK_SECRET') ?: throw new RuntimeException('Set GERBANG_WEBHOOK_SECRET: it begins with whsec_.');
$database = new PDO('sqlite:' . (getenv('DATABASE') ?: __DIR__ . '/shop.sqlite'));
$database->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
$orders = function (string $sql, string ...$values) use ($database): array {
    $statement = $database->prepare($sql);
    $statement->execute($values);
    return $statement->fetch(PDO::FETCH_ASSOC) ?: [];
};
$columns = "id text primary key, qr text not null default '', pay_at text not null default '', status text not null default 'open'";
$orders("create table if not exists orders ($columns)");

function page(string $body, int $status = 200): never
{
    http_response_code($status);
    header('content-type: text/html; charset=utf-8');
    $style = 'font: 1rem/1.5 system-ui; max-width: 30rem; margin: 3rem auto; overflow-wrap: anywhere';
    exit("<!doctype html><meta name=viewport content='width=device-width'><title>Kopi</title><body style='$style'><h1>Kopi</h1>$body");
}

$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if ("{$_SERVER['REQUEST_METHOD']} $path" === 'POST /webhooks') {
    try { // the bytes as they came
        $event = (new Gerbang\Webhooks())->unwrap(file_get_contents('php://input'), $_SERVER, $secret);
    } catch (Gerbang\WebhookException $error) {
        page($error->step, 401);
    }
    $ends = ['payment.succeeded' => 'paid', 'payment.failed' => 'not paid', 'payment.expired' => 'not paid', 'payment.canceled' => 'not paid'];
    if (isset($ends[$event['type']])) { // the same event may come twice: only an open order changes
        $orders("update orders set status = ? where id = ? and status = 'open'", $ends[$event['type']], $event['data']['reference_id']);
    }
    exit();
}
if ("{$_SERVER['REQUEST_METHOD']} $path" === 'POST /orders') {
    $id = $_POST['order'] ?? '';
    is_string($id) && preg_match('/^order-[0-9a-f]{32}$/D', $id) || page('<p>There is no such order.</p>', 404);
    $orders('insert or ignore into orders (id) values (?)', $id); // first: the webhook may be faster than the answer
    $order = ['amount_minor' => 7_500_000, 'currency' => 'IDR', 'payment_method' => 'qris', 'reference_id' => $id];
    try { // GERBANG_CLIENT_ID, GERBANG_SECRET, GERBANG_BASE_URL
        $payment = (new Gerbang\Client())->payments->createOrFind($order);
    } catch (Throwable $error) { // also keys that are not set
        error_log("payment: {$error->getCode()} {$error->getMessage()} " . ($error->advice ?? ''));
        page('<p>Payment is not possible now. Please try again.</p>', 502);
    }
    $orders('update orders set qr = ?, pay_at = ? where id = ?', $payment['instructions']['value'] ?? '', $payment['checkout_url'] ?? '', $id);
    header("location: /orders/$id", true, 303);
    exit();
}
if ($path === '/') {
    $button = '<button name="order" value="order-' . bin2hex(random_bytes(16)) . '">Buy it</button>'; // who presses it twice buys once
    page("<p>A coffee, Rp75.000</p><form method=\"post\" action=\"/orders\">$button</form>");
}
preg_match('~^/orders/([\w-]+)(/open)?$~D', $path, $asked) || page('<p>Nothing is here.</p>', 404);
$order = $orders('select qr, pay_at, status from orders where id = ?', $asked[1]) ?: page('<p>There is no such order.</p>', 404);
if (isset($asked[2])) {
    header('content-type: application/json');
    exit(json_encode($order['status'] === 'open'));
}
if ($order['status'] !== 'open') {
    page($order['status'] === 'paid' ? '<p>Paid. Your coffee is on its way.</p>' : '<p>Not paid. <a href="/">Try again</a></p>');
}
$ask = "setInterval(async () => (await (await fetch(location.pathname + '/open')).json()) || location.reload(), 1000)";
$pay = sprintf('<p><a href="%s" target="_blank">Show the QR code</a></p><code>%s</code>', htmlspecialchars($order['pay_at']), htmlspecialchars($order['qr']));
page("<p>Waiting for Rp75.000.</p>$pay<script>$ask</script>");

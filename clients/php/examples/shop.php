<?php
// A shop in one file: an order page, a payment by card, and the webhook that marks the order as paid. `php -S 127.0.0.1:3000 shop.php`.
// Set GERBANG_CLIENT_ID, GERBANG_SECRET, GERBANG_BASE_URL and GERBANG_WEBHOOK_SECRET. Orders are files in SHOP_FOLDER; yours are rows of a table.

declare(strict_types=1);

require __DIR__ . '/../Gerbang.php';

$folder = getenv('SHOP_FOLDER') ?: __DIR__ . '/shop-data';
is_dir($folder) || mkdir($folder, 0700, true);

function page(int $status, string $body, string $location = ''): void
{
    http_response_code($status);
    header('content-type: text/html; charset=utf-8');
    if ($location !== '') {
        header("location: $location", true, $status);
    }
    exit($body);
}

function order(string $folder): void
{
    $order = 'order-' . bin2hex(random_bytes(6));
    file_put_contents("$folder/$order", 'open');
    try {
        $payment = (new Gerbang\Client())->payments->createOrFind([
            'amount_minor' => 7_500_000,
            'currency' => 'IDR',
            'payment_method' => 'card',
            'reference_id' => $order,
        ]);
    } catch (Throwable $error) { // also keys that are not set
        error_log("payment: {$error->getCode()} {$error->getMessage()} " . ($error->advice ?? ''));
        page(502, 'Payment is not possible now. Please try again.');
    }
    page(303, '', $payment['checkout_url'] ?? '/');
}

function webhook(string $folder): void
{
    try {
        $event = (new Gerbang\Webhooks())->unwrap(file_get_contents('php://input'), $_SERVER, getenv('GERBANG_WEBHOOK_SECRET'));
    } catch (Throwable $error) { // also a secret that is not set: PHP would answer 200, and the event be lost
        error_log("webhook: {$error->getMessage()}");
        page($error instanceof Gerbang\WebhookException ? 401 : 500, $error->step ?? '');
    }
    $id = $event['data']['reference_id'] ?? '';
    $isOrder = is_string($id) && preg_match('/^order-[0-9a-f]{12}$/D', $id) && is_file("$folder/$id");
    if ($event['type'] === 'payment.succeeded' && $isOrder) {
        file_put_contents("$folder/$id", 'paid', LOCK_EX); // the same event may come twice: the second changes nothing
    }
    page(200, '');
}

match ([$_SERVER['REQUEST_METHOD'], parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH)]) {
    ['POST', '/orders'] => order($folder),
    ['POST', '/webhooks'] => webhook($folder),
    default => null,
};
$lines = array_map(fn($file) => '<li>' . htmlspecialchars(basename($file)) . ': ' . file_get_contents($file) . '</li>', glob("$folder/order-*"));
page(200, '<h1>Kopi</h1><form method=post action=/orders><button>Buy a coffee, Rp75.000</button></form><ul>' . implode($lines) . '</ul>');

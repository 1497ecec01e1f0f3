<?php
// Receives webhooks with plain PHP: verified over their raw bytes, kept once, answered at once. `php worker.php` works them off.

declare(strict_types=1);

require 'Gerbang.php'; // beside this file, or vendor/autoload.php
require __DIR__ . '/inbox.php';

const PAYMENTS = ['payment.created', 'payment.processing', 'payment.succeeded', 'payment.failed', 'payment.expired', 'payment.canceled'];

/** The status to answer to a delivery: 200 only when it is genuine, and kept. */
function receive(string $rawBody, array $headers): int
{
    $secrets = preg_split('/, */', getenv('GERBANG_WEBHOOK_SECRET') ?: ''); // whsec_…; two with a comma between them during a rotation
    try {
        $event = (new Gerbang\Webhooks())->unwrap($rawBody, $headers, $secrets);
    } catch (Gerbang\WebhookException $error) {
        error_log("webhook: $error->step");
        return 401;
    }
    if (in_array($event['type'], PAYMENTS, true)) { // types that you do not know are answered with 2xx, too
        keep($event);
    }
    return 200;
}

ini_set('display_errors', '0'); // an uncaught error answers 500 and is in the log; the event comes again
$isOurs = $_SERVER['REQUEST_METHOD'] === 'POST' && parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH) === '/webhooks';
http_response_code($isOurs ? receive(file_get_contents('php://input', length: 1_000_000), $_SERVER) : 404);

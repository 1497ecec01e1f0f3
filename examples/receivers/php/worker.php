<?php
// `php worker.php`: does what the receiver queued, for ever. Let your supervisor keep one running.

declare(strict_types=1);

require __DIR__ . '/inbox.php';

work(function (string $order): void {
    print("paid: $order\n"); // in your shop: fulfil it
});

<?php
// Among the routes of the API there is no CSRF token to check: the signature says who sends it. The address is /api/webhooks.

use App\Http\Controllers\GerbangWebhookController;
use Illuminate\Support\Facades\Route;

Route::post('/webhooks', GerbangWebhookController::class);

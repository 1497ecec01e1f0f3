<?php
// The smallest application of Laravel around examples/receivers/laravel: `php laravel.php migrate` and so on is its artisan, and before php's own server it
// answers requests. For tests alone: LARAVEL_EXAMPLE is the folder of the example, LARAVEL_BASE one that may be written to, and Laravel on the include path.

declare(strict_types=1);

// Debian's Laravel is older than its PHP: what it does in ways that are deprecated is not what is tested.
error_reporting(E_ALL & ~E_DEPRECATED & ~E_USER_DEPRECATED);

require 'Illuminate/autoload.php';
require 'Gerbang.php';

$example = getenv('LARAVEL_EXAMPLE');
$base = getenv('LARAVEL_BASE');
foreach (['config', 'bootstrap/cache', 'storage/framework/cache', 'storage/framework/views', 'storage/logs', 'app'] as $folder) {
    is_dir("$base/$folder") || mkdir("$base/$folder", 0700, true);
}
touch(getenv('INBOX')); // SQLite's file has to be there
spl_autoload_register(function (string $class) use ($example): void {
    $file = "$example/app/" . strtr(substr($class, 4), '\\', '/') . '.php';
    if (str_starts_with($class, 'App\\') && is_file($file)) {
        require $file;
    }
});

$database = ['driver' => 'sqlite', 'database' => getenv('INBOX'), 'prefix' => ''];
$config = [
    'app' => [
        'name' => 'Shop',
        'env' => 'production',
        'debug' => false,
        'timezone' => 'UTC',
        'key' => 'base64:' . base64_encode(str_repeat('k', 32)),
        'cipher' => 'AES-256-CBC',
        'locale' => 'en',
        'fallback_locale' => 'en',
        'providers' => [
            Illuminate\Bus\BusServiceProvider::class,
            Illuminate\Cache\CacheServiceProvider::class,
            Illuminate\Database\DatabaseServiceProvider::class,
            Illuminate\Encryption\EncryptionServiceProvider::class,
            Illuminate\Filesystem\FilesystemServiceProvider::class,
            Illuminate\Foundation\Providers\ConsoleSupportServiceProvider::class,
            Illuminate\Foundation\Providers\FoundationServiceProvider::class,
            Illuminate\Pipeline\PipelineServiceProvider::class,
            Illuminate\Queue\QueueServiceProvider::class,
            Illuminate\View\ViewServiceProvider::class,
        ],
        'aliases' => [],
    ],
    'cache' => ['default' => 'array', 'stores' => ['array' => ['driver' => 'array']], 'prefix' => 'shop'],
    'database' => ['default' => 'sqlite', 'connections' => ['sqlite' => $database], 'migrations' => 'migrations'],
    'filesystems' => ['default' => 'local', 'disks' => ['local' => ['driver' => 'local', 'root' => "$base/app"]]],
    'logging' => ['default' => 'errorlog', 'channels' => ['errorlog' => ['driver' => 'errorlog']]],
    'queue' => [
        'default' => 'database',
        'connections' => ['database' => ['driver' => 'database', 'table' => 'jobs', 'queue' => 'default', 'retry_after' => 60]],
        'failed' => ['driver' => 'null'],
    ],
    'services' => ['gerbang' => ['webhook_secrets' => preg_split('/, */', getenv('GERBANG_WEBHOOK_SECRET'))]],
    'view' => ['paths' => ["$base/app"], 'compiled' => "$base/storage/framework/views"],
];
foreach ($config as $name => $values) {
    file_put_contents("$base/config/$name.php", '<?php return ' . var_export($values, true) . ';', LOCK_EX);
}

$app = new Illuminate\Foundation\Application($base);
$app->singleton(Illuminate\Contracts\Http\Kernel::class, Illuminate\Foundation\Http\Kernel::class);
$app->singleton(Illuminate\Contracts\Console\Kernel::class, Illuminate\Foundation\Console\Kernel::class);
$app->singleton(Illuminate\Contracts\Debug\ExceptionHandler::class, Illuminate\Foundation\Exceptions\Handler::class);
$app->booted(fn() => Illuminate\Support\Facades\Route::prefix('api')->group("$example/routes/api.php"));

if (PHP_SAPI === 'cli') {
    $app->afterResolving('migrator', fn($migrator) => array_map([$migrator, 'path'], ["$example/database/migrations", "$base/migrations"]));
    is_dir("$base/migrations") || mkdir("$base/migrations", 0700);
    // The queue's own table, as `php artisan queue:table` writes it.
    $stub = file_get_contents(dirname((new ReflectionClass(Illuminate\Queue\Console\TableCommand::class))->getFileName()) . '/stubs/jobs.stub');
    file_put_contents("$base/migrations/2026_11_22_000000_create_jobs_table.php", strtr($stub, [
        '{{table}}' => 'jobs', '{{tableClassName}}' => 'Jobs', 'Create{{tableClassName}}Table' => 'CreateJobsTable',
    ]));
    $input = new Symfony\Component\Console\Input\ArgvInput();
    $output = new Symfony\Component\Console\Output\ConsoleOutput();
    exit($app->make(Illuminate\Contracts\Console\Kernel::class)->handle($input, $output));
}
$kernel = $app->make(Illuminate\Contracts\Http\Kernel::class);
$kernel->handle(Illuminate\Http\Request::capture())->send();

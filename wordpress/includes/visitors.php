<?php
namespace Carillon;
defined('ABSPATH') || exit;

/**
 * URLs of the service workers of OneSignal's and Perfecty's plugins, which are gone when these are deleted. A browser
 * that does not visit again gets no other worker than that of its old URL.
 */
const OLD_WORKERS = '~/OneSignalSDK(Updater)?Worker\.js(\.php)?$|/perfecty-push[^/]*/public/js/service-worker-loader\.js\.php$~';

// A query, because web servers look for paths that end in .js themselves. PHP writes its dot as an underscore.
// phpcs:ignore WordPress.Security -- anybody may read the file.
if (isset($_GET['carillon-sw_js']) || (preg_match(OLD_WORKERS, (string) strtok($_SERVER['REQUEST_URI'] ?? '', '?')) && settings()['moving'])) {
    serve_worker();
}

function serve_worker(): void {
    // phpcs:ignore WordPress.NamingConventions.PrefixAllGlobals -- plugins that store pages look for this name.
    defined('DONOTCACHEPAGE') || define('DONOTCACHEPAGE', true);
    status_header(200);
    header('Content-Type: text/javascript; charset=utf-8');
    header('Cache-Control: no-cache');
    header('Service-Worker-Allowed: /');
    header('X-Robots-Tag: noindex');
    // phpcs:ignore WordPress.WP.AlternativeFunctions -- a file of the plugin.
    readfile(dirname(__DIR__) . '/scripts/carillon-sw.js');
    exit;
}

/** Options of the SDK's init() for this site: in each page, so without anything that is of one visitor. */
function sdk_options(): array {
    ['baseUrl' => $base_url, 'project' => $project, 'applicationServerKey' => $key] = known_project();
    // Languages may have hosts of their own, and change home_url().
    $folder = trailingslashit((string) wp_parse_url(get_option('home'), PHP_URL_PATH));
    return [
        'baseUrl' => $base_url,
        'projectId' => $project,
        'applicationServerKey' => $key,
        'serviceWorker' => "$folder?carillon-sw.js",
        'scope' => $folder,
        'replaceWorker' => (bool) settings()['moving'],
    ];
}

add_action('wp_enqueue_scripts', function () {
    if (known_project() && is_confirmed()) {
        wp_enqueue_script('carillon', plugins_url('scripts/visitor.js', FILE), [], VERSION, true);
    }
});

add_filter('script_loader_tag', function (string $tag, string $handle): string {
    if ($handle !== 'carillon') {
        return $tag;
    }
    ['bell' => $bell, 'prompt' => $prompt] = settings();
    $options = [
        'init' => sdk_options(),
        'bell' => $bell,
        'prompt' => (bool) $prompt,
        'channels' => (object) offered_channels(),
        'privacyUrl' => get_privacy_policy_url(),
        // The SDK's own texts are English.
        'texts' => (object) (determine_locale() === 'en_US' ? [] : visitor_texts()),
    ];
    $attributes = ' type="module" data-carillon="' . esc_attr(wp_json_encode($options)) . '" ';
    // Themes without HTML5 have another type in it.
    return str_replace('<script ', '<script' . $attributes, preg_replace('~ type=([\'"]).*?\1~', '', $tag));
}, 10, 2);

add_shortcode('carillon_bell', fn () => '<span class="carillon-bell"></span>');

/** The category's id: its slug may be longer than the name of a channel, and may change. */
function channel_of(int $category): string {
    return "category-$category";
}

/** Labels of the channels that visitors can choose from, by their names. */
function offered_channels(): array {
    $ids = settings()['categories'];
    $terms = $ids ? get_terms(['taxonomy' => 'category', 'include' => $ids, 'hide_empty' => false]) : [];
    $channels = [];
    foreach (is_array($terms) ? $terms : [] as $term) {
        $channels[channel_of($term->term_id)] = html_entity_decode($term->name, ENT_QUOTES | ENT_HTML5, 'UTF-8');
    }
    return $channels;
}

/** Texts of bell and prompt, by their names in the SDK. */
function visitor_texts(): array {
    return [
        'install' => __('To get notifications, tap Share, then “Add to Home Screen”, and open this site from there. This needs iOS 16.4 or later.', 'carillon'),
        'deniedInChromium' => __('Notifications are blocked. Select the icon to the left of the address, and allow notifications. Incognito windows never allow them.', 'carillon'),
        'deniedInFirefox' => __('Notifications are blocked. Select the icon to the left of the address, and remove the block.', 'carillon'),
        'deniedInSafari' => __('Notifications are blocked. Open Safari’s settings, then Websites, then Notifications, and allow this site.', 'carillon'),
        'deniedOnIos' => __('Notifications are blocked. Open the Settings app, then Notifications, and allow this site.', 'carillon'),
        'label' => __('Notifications', 'carillon'),
        'on' => _x('on', 'state of notifications', 'carillon'),
        'off' => _x('off', 'state of notifications', 'carillon'),
        'onHere' => __('On in this browser', 'carillon'),
        'offHere' => __('Off in this browser', 'carillon'),
        'turnOn' => __('Turn on to choose what to receive.', 'carillon'),
        'channels' => __('What to receive', 'carillon'),
        'saved' => __('Saved.', 'carillon'),
        'noConnection' => __('That did not work. Check your connection and try again.', 'carillon'),
        'noPushService' => __('The browser cannot reach its push service. A setting or firewall may be the cause.', 'carillon'),
        'failed' => __('That did not work. Try again later, or tell this site.', 'carillon'),
        'question' => __('May we send you notifications? You can stop them at any time.', 'carillon'),
        'accept' => __('Yes', 'carillon'),
        'notNow' => __('Not now', 'carillon'),
        'privacy' => __('Privacy', 'carillon'),
    ];
}

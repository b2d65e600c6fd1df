<?php
namespace Carillon;
defined('ABSPATH') || exit;

/** Asks the service for the application server key, which can be rotated. */
const REFRESH = 'carillon_refresh';

const DEFAULTS = [
    'baseUrl' => '',
    'project' => '',
    'types' => ['post'], // of posts that are announced
    'bell' => 'corner', // of each page, or at the `shortcode`, or `none`
    'prompt' => false, // whether a question appears on the page
    'categories' => [], // ids of those that visitors choose from; none: every post goes to everyone
    'moving' => false, // whether to take the place of another plugin's service worker
    'uuid' => '', // part of each Idempotency-Key
    'confirmed' => '', // the site for which a person has set this up: see this_site()
];

/** The settings of the site. Constants of wp-config.php come first. The secret key is apart, because pages need none. */
function settings(): array {
    $settings = array_merge(DEFAULTS, (array) get_option('carillon', []), array_filter([
        'baseUrl' => defined('CARILLON_BASE_URL') ? CARILLON_BASE_URL : null,
        'project' => defined('CARILLON_PROJECT') ? CARILLON_PROJECT : null,
    ]));
    $settings['baseUrl'] = untrailingslashit(trim($settings['baseUrl']));
    return $settings;
}

function change_settings(array $changes): void {
    update_option('carillon', array_merge(DEFAULTS, (array) get_option('carillon', []), $changes));
}

function secret_key(): string {
    return defined('CARILLON_SECRET_KEY') ? CARILLON_SECRET_KEY : (string) get_option('carillon_key', '');
}

function is_configured(): bool {
    return settings()['baseUrl'] && settings()['project'] && secret_key();
}

/** Which site this is. In a copy of the database it differs from the stored one. Languages change home_url(). */
function this_site(): string {
    $address = preg_replace('~^https?://~', '', untrailingslashit(get_option('home')));
    return $address . ' (' . wp_get_environment_type() . ')';
}

function is_confirmed(): bool {
    return settings()['confirmed'] === this_site();
}

/** Announcements of a copy must not be taken for those of the site that it was copied from. */
function confirm_site(): void {
    change_settings(['confirmed' => this_site(), 'uuid' => wp_generate_uuid4()]);
}

/** What the service has said about the project: `applicationServerKey`, of which address and project. Null if nothing. */
function known_project(): ?array {
    $known = get_option('carillon_known');
    $settings = settings();
    $is_same = is_array($known) && [$known['baseUrl'], $known['project']] === [$settings['baseUrl'], $settings['project']];
    return $is_same ? $known : null;
}

/** Asks the service for the project. Returns what ask() returns. */
function refresh(): array {
    $response = ask('GET', '');
    $key = $response['body']['applicationServerKey'] ?? null;
    if ($key) {
        ['baseUrl' => $base_url, 'project' => $project, 'confirmed' => $confirmed] = settings();
        $known = ['baseUrl' => $base_url, 'project' => $project, 'applicationServerKey' => $key];
        update_option('carillon_known', $known);
        if ($confirmed === '' && wp_get_environment_type() === 'production') {
            confirm_site();
        }
    }
    return $response;
}

add_action(REFRESH, __NAMESPACE__ . '\refresh');

// Not at the activation: a network activates a plugin once for all its sites.
add_action('init', function () {
    if (is_configured() && !wp_next_scheduled(REFRESH)) {
        wp_schedule_event(time(), 'hourly', REFRESH);
    }
});

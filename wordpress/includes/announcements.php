<?php
namespace Carillon;
defined('ABSPATH') || exit;

/** Tries to send what waits, or asks what became of what was sent. Its argument is the id of the post. */
const ATTEMPT = 'carillon_attempt';

/**
 * Post meta with the announcement of a post:
 * - `post`: its id. In a copy of the post it is that of another one.
 * - `state`: `waiting` to be sent, `sending`, `sent`, `failed`, or `none`; `reason`, with `none`: a key of reasons().
 * - `number` of the announcement, from 1; `since`: when it was queued; `visibility` of the post then; `by_hand`.
 * - `key`, `body` of the request. Repetitions send both unchanged, so that it is sent once.
 * - `failures`: number of failed attempts; `message` of the last one; `unclear` if an attempt may have sent it; `id`, `counts` of the notification.
 */
const RECORD = '_carillon';

/** Post meta with the post's id, if somebody has decided not to announce it. */
const OPT_OUT = '_carillon_off';

/** The service knows an Idempotency-Key for 24 hours. */
const LAST_ATTEMPT_SECONDS = 23 * HOUR_IN_SECONDS;

/** Longer than an attempt can take. */
const CLAIM_SECONDS = 5 * MINUTE_IN_SECONDS;

/** A delivery may be continued for 75 minutes, if functions crash. */
const DELIVERY_SECONDS = 80 * MINUTE_IN_SECONDS;

function record(int $id): array {
    $record = get_post_meta($id, RECORD, true);
    return is_array($record) && $record['post'] === $id ? $record : ['post' => $id, 'state' => '', 'number' => 0];
}

function is_opted_out(int $id): bool {
    return (int) get_post_meta($id, OPT_OUT, true) === $id;
}

function opt_out(int $id, bool $off): void {
    $off ? update_post_meta($id, OPT_OUT, $id) : delete_post_meta($id, OPT_OUT);
}

/**
 * Changes the record of a post. Returns whether it could: false while another process does.
 *
 * @param callable $change gets the record. Returns null, or the new one and the seconds until the next attempt or null.
 */
function change(int $id, callable $change): bool {
    global $wpdb;
    $name = "carillon_claim_$id";
    $now = (string) time();
    // phpcs:disable WordPress.DB.DirectDatabaseQuery -- option names are unique: one process alone inserts the row.
    $is_mine = $wpdb->query($wpdb->prepare("INSERT IGNORE INTO $wpdb->options (option_name, option_value, autoload) VALUES (%s, %s, 'no')", $name, $now))
        // The process that had it has died.
        || $wpdb->query($wpdb->prepare("UPDATE $wpdb->options SET option_value = %s WHERE option_name = %s AND option_value <= %s", $now, $name, $now - CLAIM_SECONDS));
    if (!$is_mine) {
        return false;
    }
    try {
        // Another process may have changed it since this one has read it.
        wp_cache_delete($id, 'post_meta');
        $changed = $change(record($id));
        $changed && save(...$changed);
    } finally {
        $wpdb->delete($wpdb->options, ['option_name' => $name, 'option_value' => $now]);
    }
    // phpcs:enable
    return true;
}

function save(array $record, ?int $seconds): void {
    // WordPress removes slashes.
    update_post_meta($record['post'], RECORD, wp_slash($record));
    wp_clear_scheduled_hook(ATTEMPT, [$record['post']]);
    if ($seconds !== null) {
        wp_schedule_single_event(time() + $seconds, ATTEMPT, [$record['post']]);
    }
    $failed = array_diff((array) get_option('carillon_failed', []), [$record['post']]);
    $failed = array_merge($failed, $record['state'] === 'failed' ? [$record['post']] : []);
    update_option('carillon_failed', array_slice($failed, -20), false);
}

function queued(array $record, string $visibility, bool $by_hand): array {
    $number = $record['number'] + 1;
    $queued = ['state' => 'waiting', 'number' => $number, 'since' => time(), 'failures' => 0];
    return [['post' => $record['post'], 'visibility' => $visibility, 'by_hand' => $by_hand] + $queued, 0];
}

add_action('wp_after_insert_post', function ($id, $post, $update, $before) {
    $is_published = $post->post_status === 'publish' && (!$before || $before->post_status !== 'publish');
    if ($is_published && is_configured() && in_array($post->post_type, settings()['types'], true)) {
        change($id, function (array $record) use ($post) {
            // It was announced, taken offline, and is published again.
            if (!in_array($record['state'], ['', 'none'], true) || isset($record['body'])) {
                return null;
            }
            $reason = reason_at_publication($post);
            return $reason ? [['state' => 'none', 'reason' => $reason] + $record, null] : queued($record, 'publish', false);
        });
    }
}, 10, 4);

/** Announces a post because a person wants it, also again. */
function announce(\WP_Post $post): bool {
    opt_out($post->ID, false);
    return change($post->ID, function (array $record) use ($post) {
        $is_under_way = in_array($record['state'], ['waiting', 'sending'], true);
        return $is_under_way ? [$record, 0] : queued($record, visibility($post), true);
    });
}

/** Who can read a post: its status, or `password`. */
function visibility(\WP_Post $post): string {
    return $post->post_status === 'publish' && $post->post_password !== '' ? 'password' : $post->post_status;
}

/** Why a published post is not announced by itself. Empty: it is. */
function reason_at_publication(\WP_Post $post): string {
    // phpcs:ignore WordPress.Security.NonceVerification -- WordPress has verified the nonce of this request.
    $is_bulk = isset($_REQUEST['bulk_edit']);
    $is_old = get_post_timestamp($post) < time() - DAY_IN_SECONDS;
    $is_import = defined('WP_IMPORTING') && WP_IMPORTING;
    return $is_import ? 'import' : ($is_bulk ? 'bulk' : ($is_old ? 'old' : reason_now($post, 'publish')));
}

/** Why a post cannot be announced now. */
function reason_now(\WP_Post $post, string $queued_visibility): string {
    $visibility = visibility($post);
    if (!in_array($visibility, ['publish', $queued_visibility], true)) {
        return in_array($visibility, ['password', 'private'], true) ? $visibility : 'offline';
    }
    $has_no_channel = settings()['categories'] && !channels($post);
    return is_opted_out($post->ID) ? 'off' : (is_confirmed() ? ($has_no_channel ? 'category' : '') : 'copy');
}

add_action(ATTEMPT, function (int $id) {
    change($id, function (array $record) {
        if (!in_array($record['state'], ['waiting', 'sending'], true)) {
            return null;
        }
        // If this process dies, another one goes on.
        save($record, CLAIM_SECONDS + MINUTE_IN_SECONDS);
        return $record['state'] === 'waiting' ? send($record) : follow($record);
    });
});

/** Sends what waits. */
function send(array $record): array {
    if (time() - $record['since'] > LAST_ATTEMPT_SECONDS) {
        /* translators: %s: what went wrong */
        $message = sprintf(__('Nothing succeeded for 23 hours. %s', 'carillon'), $record['message'] ?? __('WordPress’s cron did not run.', 'carillon'));
        return [['state' => 'failed', 'message' => $message] + $record, null];
    }
    $post = get_post($record['post']);
    try {
        $reason = $post ? reason_now($post, $record['visibility']) : 'offline';
        if (!$reason && !$record['by_hand'] && !apply_filters('carillon_should_announce', true, $post)) {
            $reason = 'filter';
        }
        if ($reason) {
            return [['state' => 'none', 'reason' => $reason] + $record, null];
        }
        if (!isset($record['body'])) {
            $record['key'] = settings()['uuid'] . "-$post->ID-{$record['number']}";
            $record['body'] = wp_json_encode(notification($post));
        }
        // If this process dies, nobody knows whether it has sent it.
        save(['unclear' => true] + $record, CLAIM_SECONDS + MINUTE_IN_SECONDS);
    } catch (\Throwable $error) {
        return [['state' => 'failed', 'message' => $error->getMessage()] + $record, null];
    }
    // The response comes before the delivery.
    $headers = ['Idempotency-Key' => $record['key'], 'Prefer' => 'respond-async'];
    $response = ask('POST', '/notifications', $record['body'], $headers);
    if (in_array($response['status'], [201, 202], true) && isset($response['body']['id'])) {
        return delivered(['id' => $response['body']['id'], 'since' => time()] + $record, $response['body']);
    }
    $unclear = is_unclear($response) ? ['unclear' => true] : [];
    $record = ['failures' => $record['failures'] + 1, 'message' => explain($response)] + $unclear + $record;
    $pause = max($response['retryAfter'], min(HOUR_IN_SECONDS, 30 * 2 ** $record['failures']));
    return is_transient($response) ? [$record, $pause] : [['state' => 'failed'] + $record, null];
}

/** Asks what became of a notification. */
function follow(array $record): array {
    $response = ask('GET', "/notifications/{$record['id']}");
    $is_over = time() - $record['since'] > DELIVERY_SECONDS || ($response['status'] !== 200 && !is_transient($response));
    return $response['status'] === 200 || $is_over ? delivered($record, $response['body'], $is_over) : [$record, MINUTE_IN_SECONDS];
}

/** @param array $notification response of the service: its counts, or its `status` while it goes on. */
function delivered(array $record, array $notification, bool $is_over = false): array {
    $is_open = in_array($notification['status'] ?? '', ['sending', 'stopping'], true);
    $goes_on = $is_open && !$is_over;
    // Counts that may still change are no result.
    $names = $is_open ? [] : ['attempted' => 0, 'delivered' => 0, 'removed' => 0, 'failed' => 0, 'unreached' => 0];
    $state = ['state' => $goes_on ? 'sending' : 'sent', 'counts' => array_intersect_key($notification, $names)];
    return [$state + $record, $goes_on ? ($record['state'] === 'sending' ? 30 : 2) : null];
}

/** The content of the notification: fields of the API's send. */
function notification(\WP_Post $post): array {
    $title = plain(get_the_title($post)) ?: plain(get_bloginfo('name')) ?: this_site();
    $fields = [
        'title' => mb_substr($title, 0, 256),
        // Only one that the author has written: an automatic one would render the post.
        'body' => mb_substr(plain($post->post_excerpt), 0, 300),
        'url' => get_permalink($post),
        'icon' => get_site_icon_url(192),
        'image' => get_the_post_thumbnail_url($post, 'large'),
        'channels' => channels($post),
        'locales' => locales($post),
    ];
    $is_sent = fn ($value, string $name): bool => $value && (!in_array($name, ['url', 'icon', 'image'], true) || preg_match('~^https?://.{1,2000}$~', $value));
    return apply_filters('carillon_notification', array_filter($fields, $is_sent, ARRAY_FILTER_USE_BOTH), $post);
}

/** HTML as text. The service takes double braces for places of personal values: a word joiner parts them, unseen. */
function plain(string $html): string {
    $text = html_entity_decode(wp_strip_all_tags($html), ENT_QUOTES | ENT_HTML5, 'UTF-8');
    return str_replace('{{', "{\u{2060}{", (string) preg_replace('/^[\p{Z}\p{C}]+|[\p{Z}\p{C}]+$/u', '', $text));
}

/** The language of a post, with Polylang or WPML: as far as it differs from the other languages of the site. */
function locales(\WP_Post $post): array {
    if (function_exists('pll_get_post_language')) {
        [$own, $all] = [pll_get_post_language($post->ID, 'w3c'), pll_languages_list(['fields' => 'w3c'])];
    } else {
        $all = wp_list_pluck(apply_filters('wpml_active_languages', null) ?: [], 'default_locale');
        $own = $all[apply_filters('wpml_element_language_code', null, ['element_id' => $post->ID, 'element_type' => $post->post_type])] ?? '';
    }
    $own = str_replace('_', '-', (string) $own);
    $language = (string) strtok($own, '-');
    return $own ? [count(preg_grep("/^$language(?![a-z])/", $all)) > 1 ? $own : $language] : [];
}

/** The channels of a post: those of its categories, and of the categories above them, that visitors can choose. */
function channels(\WP_Post $post): array {
    $own = wp_get_post_categories($post->ID);
    $above = array_map(fn (int $id): array => get_ancestors($id, 'category', 'taxonomy'), $own);
    $offered = array_intersect(settings()['categories'], array_merge($own, ...$above));
    return array_values(array_map(__NAMESPACE__ . '\channel_of', $offered));
}

<?php
/**
 * Plugin Name:       Carillon
 * Description:       Web push from your own Carillon: visitors subscribe, and each new post is announced to them once.
 * Version:           0.0.0
 * Requires at least: 6.1
 * Requires PHP:      7.4
 * Author:            The founders of Carillon
 * License:           Apache-2.0
 * License URI:       https://www.apache.org/licenses/LICENSE-2.0
 * Text Domain:       carillon
 * Update URI:        false
 */

// Update URI: WordPress must not replace this plugin by one of the same name in its directory.

namespace Carillon;

defined('ABSPATH') || exit;

// The build writes the version of the release here and above.
const VERSION = '0.0.0';
const FILE = __FILE__;

require __DIR__ . '/includes/settings.php';
require __DIR__ . '/includes/service.php';
require __DIR__ . '/includes/visitors.php';
require __DIR__ . '/includes/announcements.php';
require __DIR__ . '/includes/editor.php';
if (is_admin()) {
    require __DIR__ . '/includes/admin.php';
}

register_deactivation_hook(FILE, fn () => array_map('wp_unschedule_hook', [REFRESH, ATTEMPT]));

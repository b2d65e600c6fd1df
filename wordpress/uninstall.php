<?php
defined('WP_UNINSTALL_PLUGIN') || exit;

foreach (is_multisite() ? get_sites(['fields' => 'ids', 'number' => 0]) : [0] as $carillon_site) {
    $carillon_site && switch_to_blog($carillon_site);
    foreach (['carillon', 'carillon_key', 'carillon_known', 'carillon_failed'] as $carillon_option) {
        delete_option($carillon_option);
    }
    global $wpdb;
    // phpcs:ignore WordPress.DB.DirectDatabaseQuery -- WordPress has no call for options by a part of their name.
    $wpdb->query("DELETE FROM $wpdb->options WHERE option_name LIKE 'carillon\\_claim\\_%'");
    delete_post_meta_by_key('_carillon');
    delete_post_meta_by_key('_carillon_off');
    wp_unschedule_hook('carillon_attempt');
    wp_unschedule_hook('carillon_refresh');
    $carillon_site && restore_current_blog();
}

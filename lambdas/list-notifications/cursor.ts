/** The cursor of a page that starts with this notification: the bytes of its UUID, base64url. */
export function cursorOf(notificationId: string): string {
  return Buffer.from(notificationId.replaceAll('-', ''), 'hex').toString('base64url');
}

/** The UUID in a cursor. @param cursor 16 bytes. */
export function idOf(cursor: Uint8Array): string {
  const hex = Buffer.from(cursor).toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

import type { OwnerRouteName } from './routes.ts';

/** What the holder of a key may do, from least to most. `owner` is the secret key's; members' keys have the others. */
export const roles = ['viewer', 'sender', 'owner'] as const;
export type Role = (typeof roles)[number];

export const memberRoles = ['viewer', 'sender'] as const satisfies readonly Role[];
export type MemberRole = (typeof memberRoles)[number];

/** Whose key a request has. */
export type Access =
  | { readonly role: 'owner' }
  | {
      readonly role: MemberRole;
      /** The member's. */
      readonly name: string;
    };

/** The least role that may call each route, and what a refused one is told that it may not do. */
export const permissions = {
  getProject: { least: 'viewer', action: 'read the project' },
  listNotifications: { least: 'viewer', action: 'list notifications' },
  getNotification: { least: 'viewer', action: 'read notifications' },
  send: { least: 'sender', action: 'send notifications' },
  stopNotification: { least: 'sender', action: 'stop notifications' },
  getUser: { least: 'sender', action: 'read what is stored about a user' },
  removeUser: { least: 'owner', action: 'remove users or their devices' },
} as const satisfies Readonly<
  Record<OwnerRouteName, { readonly least: Role; readonly action: string }>
>;

export function mayCall(role: Role, route: OwnerRouteName): boolean {
  return roles.indexOf(role) >= roles.indexOf(permissions[route].least);
}

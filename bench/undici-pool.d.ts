/** Only the pool: a bundle with all of undici would be twice as large. */
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici';
}

/* Written by "npm run types" from the output of "longhaul schema --page"; not edited by hand. */

/**
 * A city; `at` is its latitude and longitude in degrees, `node` a name for a node of it.
 */
export interface CityRow {
  name: string;
  country: string;
  /**
   * @minItems 2
   * @maxItems 2
   */
  at: [number, number];
  inhabitants: number;
  node: string;
}

/**
 * Cities whose names begin as was asked, the best first.
 */
export interface Cities {
  cities: CityRow[];
  source: 'GeoNames, CC BY 4.0';
}

/**
 * Fibre between two places, `route_factor` times as long as the great circle; one-way delay.
 */
export interface FibreRow {
  great_circle_km: number;
  fibre_km: number;
  route_factor: number;
  index: number;
  delay_ns: number;
  delay: string;
}

/**
 * Fibre between pairs of places, in the order of the request.
 */
export interface Fibres {
  fibres: FibreRow[];
}

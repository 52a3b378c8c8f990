-- What the shop sells. Variants, stock and prices are made from one row a
-- product: colours x sizes, each size with what it costs more.

SET search_path = shop, pg_catalog;

INSERT INTO shipping VALUES ('EUR', 4.90, 60), ('GBP', 4.20, 50);

INSERT INTO coupon (code, label, percent, amount, currency, min_total,
    starts_on, ends_on, max_uses) VALUES
('WELCOME10', '10 % off your first order', 10, NULL, NULL, 0,
    NULL, NULL, NULL),
('HARBOUR5', '5.00 EUR off from 40.00 EUR', NULL, 5, 'EUR', 40,
    NULL, NULL, NULL),
('QUAYSIDE', '8.00 GBP off from 60.00 GBP', NULL, 8, 'GBP', 60,
    NULL, NULL, NULL),
('ONCE25', '25 % off, for the first to use it', 25, NULL, NULL, 0,
    NULL, NULL, 1),
('SPRING21', '15 % off, spring 2021', 15, NULL, NULL, 0,
    '2021-03-01', '2021-05-31', NULL);

INSERT INTO category VALUES
(1, 'table', 'Table', 'Stoneware and glass for every day: thrown, fired and '
    'glazed in small kilns, made to be used and washed and used again.'),
(2, 'light', 'Light', 'Lamps that light a corner rather than a ceiling. '
    'Linen, glass and brass, with sockets you can service yourself.'),
(3, 'rest', 'Rest', 'Wool, linen and cotton from mills that still weave on '
    'their own looms. Heavier than you expect, softer each winter.'),
(4, 'carry', 'Carry', 'Waxed canvas and bridle leather, sewn with thread '
    'that outlives the seam. We repair every bag we ever sold.'),
(5, 'pantry', 'Pantry', 'Coffee, tea, honey and oil from people we visit. '
    'Small lots, the harvest on the label, and nothing added.'),
(6, 'desk', 'Desk', 'Paper that takes ink, brass that takes wear, and a '
    'clock that only tells the time.');

INSERT INTO colour VALUES
('chalk', 'Chalk', 'ece7dc'), ('oat', 'Oat', 'd9c7a7'),
('sand', 'Sand', 'c9a97c'), ('butter', 'Butter', 'e6c367'),
('clay', 'Clay', 'c0795a'), ('rust', 'Rust', 'a34f32'),
('rose', 'Rose', 'cf9a93'), ('plum', 'Plum', '6b3f52'),
('moss', 'Moss', '7b8456'), ('pine', 'Pine', '3f5a49'),
('mist', 'Mist', '9fb2b5'), ('sea', 'Sea', '4c7f8c'),
('ink', 'Ink', '2f4260'), ('slate', 'Slate', '5c646b'),
('coal', 'Coal', '38393b'), ('oak', 'Oak', 'b98a56'),
('walnut', 'Walnut', '6f4c34'), ('brass', 'Brass', 'b9923f'),
('amber', 'Amber', 'b7752b'), ('honey', 'Honey', 'd69a2d');

-- sizes: name:more, where more is what the size costs on top, in EUR.
CREATE TEMP TABLE seed (
	n int GENERATED ALWAYS AS IDENTITY, category_id int, code text,
	name text, eur numeric, colours text, sizes text, shape text,
	pattern text, grams int, material text, tagline text, description text
);

INSERT INTO seed (category_id, code, name, eur, colours, sizes, shape,
    pattern, grams, material, tagline, description) VALUES
(1, 'MUG1', 'Quay Mug', 18.50, 'chalk sea clay coal', '250 ml:0 350 ml:3.5',
 'mug', 'band', 340, 'Stoneware, lead-free glaze',
 'The one you reach for first.',
 'A straight wall, a thumb-wide handle and a foot that leaves no ring. The glaze breaks to bare clay at the rim, where your lip is.'),
(1, 'MUG2', 'Speckle Mug', 16.90, 'oat mist rose', '300 ml:0',
 'mug', 'dot', 330, 'Iron-rich stoneware',
 'No two freckles alike.',
 'Iron in the clay comes through the glaze in the second firing, so each mug has its own constellation. Stacks two high.'),
(1, 'TUM1', 'Ripple Tumbler', 12.00, 'mist amber moss', 'Single:0 Set of four:32',
 'tumbler', 'plain', 210, 'Pressed recycled glass',
 'Bottle glass, second act.',
 'Pressed in an iron mould from bottles collected in the harbour district. Thick enough for a dishwasher, clear enough for wine.'),
(1, 'BWL1', 'Breakfast Bowl', 22.00, 'chalk moss clay', '14 cm:0 18 cm:6',
 'bowl', 'band', 480, 'Stoneware, lead-free glaze',
 'Deep enough to stay warm.',
 'Made for porridge and soup, with a foot ring that stays cool in the hand. Goes from freezer to oven.'),
(1, 'BWL2', 'Serving Bowl', 46.00, 'chalk ink', '26 cm:0 32 cm:18',
 'bowl', 'stripe', 1450, 'Stoneware, brushed slip',
 'The middle of the table.',
 'Wide, low and heavy enough not to travel when the salad is tossed. Three brushed lines of slip run around the outside.'),
(1, 'PLT1', 'Supper Plate', 24.00, 'chalk mist coal', '21 cm:0 27 cm:6',
 'plate', 'plain', 690, 'Stoneware, satin glaze',
 'A rim to rest a fork on.',
 'Flat in the middle, lifted at the edge, with a satin glaze that knives do not mark.'),
(1, 'PLT2', 'Shore Platter', 58.00, 'sea sand', '36 cm:0',
 'plate', 'stripe', 1700, 'Stoneware, poured glaze',
 'Room for a whole fish.',
 'Two glazes poured from either side meet in the middle in a tide line that is never the same twice.'),
(1, 'POT1', 'Ferry Teapot', 64.00, 'clay pine coal', '0.9 l:0 1.3 l:12',
 'teapot', 'plain', 920, 'Stoneware, steel strainer',
 'Pours without a drip.',
 'The spout is cut sharp on purpose, so that the stream stops where you stop it. With a strainer basket that lifts out.'),
(1, 'CRF1', 'Well Carafe', 34.00, 'mist amber', '1 l:0',
 'carafe', 'plain', 640, 'Mouth-blown glass',
 'Water, properly served.',
 'Blown thin, with a pinched waist to hold it by. The tumbler on top is sold with it.'),
(1, 'EGG1', 'Egg Cups, Pair', 14.00, 'butter chalk sea', 'Pair:0',
 'tumbler', 'band', 180, 'Stoneware',
 'Sunday, standing up.',
 'A pair of footed cups for soft eggs, salt or a single anemone.'),

(2, 'LMP1', 'Lantern House Table Lamp', 128.00, 'chalk oat pine', '42 cm:0 56 cm:40',
 'tablelamp', 'plain', 2600, 'Turned ash, linen shade',
 'A warm corner, on a switch.',
 'A turned ash foot and a linen shade that hides the bulb from every chair. Fabric cable, rotary switch, E27.'),
(2, 'LMP2', 'Pebble Table Lamp', 98.00, 'clay mist coal', '28 cm:0',
 'tablelamp', 'band', 1900, 'Stoneware, cotton shade',
 'Small, and heavier than it looks.',
 'A stoneware base thrown around its own cable channel, for shelves and bedsides. Dimmable.'),
(2, 'PEN1', 'Bell Pendant', 149.00, 'brass coal moss', '24 cm:0 38 cm:60',
 'pendant', 'plain', 1700, 'Spun metal, porcelain socket',
 'Light on the table, not in your eyes.',
 'Spun from one sheet, white inside, with two metres of fabric cable and a ceiling cup to match.'),
(2, 'PEN2', 'Paper Moon Pendant', 72.00, 'chalk butter', '40 cm:0 60 cm:24',
 'pendant', 'stripe', 600, 'Mulberry paper, bamboo',
 'Half a room, softly.',
 'Mulberry paper over bamboo hoops. Ships flat, opens in a minute and throws no shadow worth mentioning.'),
(2, 'FLR1', 'Heron Floor Lamp', 289.00, 'coal brass', '148 cm:0',
 'floorlamp', 'plain', 6400, 'Steel, brass joint',
 'Stands still, leans in.',
 'A counterweighted arm that stays where you put it. One brass joint, no springs, nothing to wear out.'),
(2, 'FLR2', 'Mast Floor Lamp', 235.00, 'oak walnut', '155 cm:0',
 'floorlamp', 'plain', 5900, 'Solid wood, linen shade',
 'A mast for the reading chair.',
 'One turned mast, a weighted foot, a linen drum. The wood is oiled, so that you can oil it again.'),
(2, 'LNT1', 'Storm Lantern', 84.00, 'pine brass rust', 'Small:0 Large:26',
 'lantern', 'plain', 1500, 'Galvanised steel, glass',
 'For the step and the boat.',
 'Takes a pillar candle or a rechargeable insert. The bail locks upright so the glass never swings.'),
(2, 'CDL1', 'Beeswax Pillar', 19.00, 'honey chalk', '12 cm:0 20 cm:9',
 'candle', 'plain', 520, 'Pure beeswax, cotton wick',
 'Forty hours of honey-coloured light.',
 'Poured, not pressed, from wax of the same hives as our honey. Burns clean if you trim the wick.'),
(2, 'CDL2', 'Harbour Candle', 26.00, 'sea plum moss', '190 g:0',
 'candle', 'band', 480, 'Soy and beeswax, glazed cup',
 'Cedar, salt and a little smoke.',
 'A scented candle in a stoneware cup that becomes a tumbler when the wax is gone.'),
(2, 'WAL1', 'Galley Wall Lamp', 112.00, 'brass chalk coal', 'Single:0',
 'pendant', 'band', 1100, 'Spun metal, fabric cable',
 'Bedside, without a table.',
 'A small bell on a swivelling bracket. Plugs in, so no electrician has to come.'),

(3, 'THR1', 'Ridge Wool Throw', 139.00, 'oat moss rust ink', '130 x 180 cm:0 160 x 220 cm:46',
 'throw', 'stripe', 1250, 'Pure new wool',
 'The one everybody steals.',
 'Woven in a herringbone from undyed and piece-dyed yarn, washed in the mill stream and brushed once. Fringed by hand.'),
(3, 'THR2', 'Fog Mohair Throw', 189.00, 'mist rose chalk', '130 x 180 cm:0',
 'throw', 'plain', 900, 'Mohair and wool',
 'Weighs next to nothing.',
 'Brushed mohair on a fine wool base: a great deal of warmth with very little blanket.'),
(3, 'THR3', 'Check Picnic Rug', 96.00, 'pine rust', '150 x 150 cm:0',
 'throw', 'check', 1600, 'Recycled wool, waxed back',
 'Dry side down.',
 'A thick recycled-wool check with a waxed cotton back and a leather strap to carry it by.'),
(3, 'CUS1', 'Linen Cushion', 48.00, 'chalk clay sea moss', '45 x 45 cm:0 60 x 40 cm:8',
 'cushion', 'plain', 650, 'Washed linen, feather pad',
 'Soft corners, straight seams.',
 'Stone-washed linen with a feather pad that you can plump for years. The cover comes off by wooden buttons.'),
(3, 'CUS2', 'Deckchair Cushion', 54.00, 'ink rust butter', '45 x 45 cm:0',
 'cushion', 'stripe', 700, 'Cotton canvas, feather pad',
 'A summer that stays.',
 'Deckchair canvas, woven in the width it was always woven in, and piped with the selvedge.'),
(3, 'CUS3', 'Tile Cushion', 59.00, 'sea plum', '50 x 50 cm:0',
 'cushion', 'check', 720, 'Wool jacquard, feather pad',
 'A floor you would like to lie on.',
 'The pattern is taken from the tiles of an old fish market and woven, not printed, so it has no wrong side.'),
(3, 'TWL1', 'Waffle Towel', 32.00, 'chalk mist sand', '50 x 90 cm:0 70 x 140 cm:20',
 'towel', 'check', 420, 'Organic cotton',
 'Dries, and is dry again.',
 'A deep waffle that gets thirstier with each wash and hangs dry by evening.'),
(3, 'TWL2', 'Kitchen Cloths, Three', 28.00, 'sea clay moss', 'Set of three:0',
 'towel', 'stripe', 300, 'Half linen',
 'For glasses, hands and bread.',
 'Half linen, so it polishes; hemmed and looped, so it hangs. Three in a band.'),
(3, 'RUG1', 'Jetty Rug', 210.00, 'oat slate', '70 x 140 cm:0 140 x 200 cm:250',
 'rug', 'stripe', 3800, 'Wool on linen warp',
 'Walk across the harbour barefoot.',
 'Flat-woven and reversible, with narrow bands like planks in a jetty. Lies flat from the first day.'),
(3, 'RUG2', 'Field Rug', 240.00, 'moss rust', '80 x 150 cm:0 170 x 240 cm:330',
 'rug', 'check', 4200, 'Hand-knotted wool',
 'Seen from above, in June.',
 'Blocks of hand-spun wool in four tones of one colour, like fields from a hill.'),

(4, 'BAG1', 'Pilot Backpack', 179.00, 'moss coal rust', '18 l:0 24 l:25',
 'backpack', 'plain', 1350, 'Waxed canvas, bridle leather',
 'Goes to work, stays for the weekend.',
 'A roll top over a zip you can reach from the side, a sleeve for a 15-inch laptop and straps that were fitted to shoulders, not to hangers.'),
(4, 'BAG2', 'Day Backpack', 129.00, 'sand ink', '14 l:0',
 'backpack', 'band', 900, 'Cotton canvas, leather',
 'Lunch, a book, a jumper.',
 'One big room, one flat pocket and no more. The base is leather, so it stands by itself.'),
(4, 'TOT1', 'Market Tote', 59.00, 'chalk sea clay', 'Regular:0 Tall:12',
 'tote', 'band', 480, 'Heavy cotton canvas',
 'Leeks out, wallet in.',
 'Eighteen-ounce canvas with handles long enough for a winter coat and a hidden pocket with a zip.'),
(4, 'TOT2', 'Leather Tote', 245.00, 'oak walnut coal', 'One size:0',
 'tote', 'plain', 980, 'Bridle leather',
 'Better in five years.',
 'Cut from single hides, edges burnished, handles stitched through and capped. It will mark; that is the point.'),
(4, 'WKN1', 'Weekender', 229.00, 'pine ink sand', '32 l:0 45 l:40',
 'weekender', 'plain', 1700, 'Waxed canvas, brass',
 'Two nights, three at a pinch.',
 'Opens wide like a doctor''s bag, closes with one zip and fits where airlines say it must.'),
(4, 'WKN2', 'Boot Bag', 119.00, 'coal rust', '28 l:0',
 'weekender', 'stripe', 1200, 'Coated canvas',
 'Wet things in, car stays dry.',
 'Welded seams up to the zip and a grille at the end, so that boots dry on the way home.'),
(4, 'PCH1', 'Zip Pouch', 29.00, 'clay moss ink butter', 'Small:0 Large:8',
 'pouch', 'plain', 120, 'Canvas offcuts',
 'From what the big bags leave.',
 'Sewn from offcuts, lined, with a brass zip. Pens, cables, plasters.'),
(4, 'PCH2', 'Washbag', 64.00, 'pine walnut', 'One size:0',
 'pouch', 'band', 310, 'Waxed canvas, wipeable lining',
 'Stands up on the basin.',
 'A flat base and a wide mouth, with a lining you can rinse under the tap.'),
(4, 'WLT1', 'Fold Wallet', 69.00, 'oak coal plum', 'One size:0',
 'pouch', 'stripe', 80, 'Bridle leather',
 'Six cards and no more.',
 'One piece of leather, folded three times and stitched on one side. Notes lie flat.'),
(4, 'UMB1', 'Rain Tote', 74.00, 'mist slate', 'One size:0',
 'tote', 'stripe', 520, 'Recycled sailcloth',
 'Made from weather.',
 'Panels cut from retired sails, numbers and all, with taped seams. Every one is different.'),

(5, 'COF1', 'Morning Blend', 12.50, 'rust', 'Beans 250 g:0 Beans 1 kg:29 Ground 250 g:0',
 'coffee', 'band', 270, 'Arabica, washed',
 'Cocoa, hazelnut, awake.',
 'Our house roast: a steady, round cup from two farms that share one washing station. Roasted on Mondays and Thursdays.'),
(5, 'COF2', 'Hillside Single Origin', 15.90, 'pine', 'Beans 250 g:0 Ground 250 g:0',
 'coffee', 'stripe', 270, 'Arabica, natural',
 'Red berries, jasmine.',
 'One hill, one week of picking. Best as filter, and best within a month of roasting.'),
(5, 'COF3', 'Night Watch Decaf', 13.90, 'ink', 'Beans 250 g:0 Ground 250 g:0',
 'coffee', 'dot', 270, 'Arabica, water process',
 'The evening cup.',
 'Decaffeinated with water alone, so that what you taste is still coffee: treacle and orange peel.'),
(5, 'TEA1', 'Smoked Black Tea', 14.00, 'coal', '100 g:0 250 g:17',
 'tin', 'band', 190, 'Leaf tea',
 'A fire somewhere near.',
 'Dried over pine, then rested for a year, so that the smoke sits behind the tea and not on top of it.'),
(5, 'TEA2', 'Orchard Infusion', 11.50, 'rose', '80 g:0',
 'tin', 'dot', 170, 'Apple, rosehip, verbena',
 'Nothing to keep you up.',
 'Dried apple, rosehip and lemon verbena, in pieces big enough to recognise.'),
(5, 'TEA3', 'First Flush Green', 19.50, 'moss', '60 g:0',
 'tin', 'stripe', 150, 'Leaf tea',
 'Steamed the day it was picked.',
 'Sweet, grassy and gone by autumn. Brew it cooler than you think, and twice.'),
(5, 'HNY1', 'Heather Honey', 13.00, 'amber', '250 g:0 500 g:10',
 'jar', 'band', 420, 'Raw honey',
 'Stands in the spoon.',
 'A jelly of a honey, dark and slightly bitter, taken once a year when the moor has flowered.'),
(5, 'JAM1', 'Bitter Orange Marmalade', 8.90, 'honey', '340 g:0',
 'jar', 'stripe', 560, 'Oranges, cane sugar',
 'Cut by hand, thick.',
 'Whole fruit, cooked twice and cut by people who eat it themselves.'),
(5, 'JAM2', 'Blackcurrant Jam', 7.90, 'plum', '340 g:0',
 'jar', 'dot', 560, 'Blackcurrants, cane sugar',
 'More fruit than jar.',
 'Seventy parts fruit to thirty sugar, set just enough to stay on toast.'),
(5, 'OIL1', 'Early Harvest Olive Oil', 24.00, 'moss', '500 ml:0 1 l:18',
 'bottle', 'plain', 950, 'Extra virgin olive oil',
 'Pepper at the back.',
 'Picked green in October, pressed within six hours, bottled unfiltered. The date is on the label.'),

(6, 'NTB1', 'Log Notebook', 19.00, 'ink rust moss oat', 'A5 plain:0 A5 ruled:0 A6 plain:-4',
 'notebook', 'plain', 320, 'Cloth cover, 100 g paper',
 'Opens flat and stays there.',
 'Sewn in sixteens, numbered pages, two ribbons. The paper takes a fountain pen without a ghost.'),
(6, 'NTB2', 'Tide Sketchbook', 26.00, 'coal mist', 'A4:0 A5:-7',
 'notebook', 'stripe', 610, 'Card cover, 160 g paper',
 'For wet hands.',
 'Heavy cotton-rich paper that takes a wash of watercolour, perforated a thumb from the spine.'),
(6, 'PLN1', 'Year Planner', 29.00, 'plum pine', 'A5:0',
 'notebook', 'check', 400, 'Cloth cover, 80 g paper',
 'Fifty-two Mondays.',
 'A week on the left, a blank page on the right, and no quotations anywhere.'),
(6, 'PEN3', 'Brass Pen', 68.00, 'brass coal', 'Rollerball:0 Fountain pen:24',
 'pen', 'plain', 60, 'Solid brass',
 'Wears in, not out.',
 'Turned from a bar, unlacquered, with a thread that closes on itself. Takes standard refills.'),
(6, 'PCL1', 'Cedar Pencils, Six', 11.00, 'oak ink rust', 'HB:0 2B:0',
 'pen', 'stripe', 45, 'Incense cedar',
 'They smell of the workshop.',
 'Six sharpened pencils in a card sleeve. Round enough to be kind, flat enough to stay on the desk.'),
(6, 'TRY1', 'Letter Tray', 54.00, 'oak walnut', 'Single:0 Pair:46',
 'tray', 'plain', 870, 'Solid wood, felt lining',
 'A place for what is not done.',
 'Mitred corners, a felt floor, and feet that stack without slipping.'),
(6, 'TRY2', 'Pocket Tray', 38.00, 'oak coal clay', 'One size:0',
 'tray', 'band', 350, 'Moulded leather',
 'Keys, coins, ring.',
 'Wet-moulded over a wooden form. By the door, it ends the morning search.'),
(6, 'CLK1', 'Harbour Wall Clock', 118.00, 'chalk pine coal', '24 cm:0 32 cm:28',
 'clock', 'plain', 900, 'Enamelled steel, glass',
 'Tells the time. Only that.',
 'A sweeping movement without a tick, twelve strokes and two hands. Runs two years on one cell.'),
(6, 'CLK2', 'Desk Clock', 76.00, 'walnut brass', '9 cm:0',
 'clock', 'band', 480, 'Solid wood or brass',
 'Small hours included.',
 'An alarm that starts quietly and an off switch that you find in the dark.'),
(6, 'VAS1', 'Pencil Pot', 22.00, 'clay sea chalk', 'One size:0',
 'tumbler', 'stripe', 390, 'Stoneware',
 'Or for one tall stem.',
 'A heavy cylinder with a glazed inside, so it takes water as well as pencils.');

INSERT INTO product (id, code, slug, category_id, name, tagline, description,
    material, care, shape, pattern, featured, created_at)
SELECT n, code, trim(both '-' from
    regexp_replace(lower(name), '[^a-z0-9]+', '-', 'g')), category_id, name,
    tagline, description, material,
    CASE category_id
    WHEN 1 THEN 'Dishwasher and oven safe. Avoid sudden changes of heat.'
    WHEN 2 THEN 'Dust with a dry cloth. Bulbs are not included.'
    WHEN 3 THEN 'Wash cool with wool soap, reshape while damp, dry flat.'
    WHEN 4 THEN 'Brush off dry dirt. Rewax once a year; we sell the tin.'
    WHEN 5 THEN 'Keep dry, dark and closed. Best before: see the label.'
    ELSE 'Wipe with a dry cloth. Oil or polish when it asks for it.' END,
    shape, pattern, n % 7 = 1 OR n IN (11, 21, 31), now() - n * interval '3 days'
FROM seed;

-- Size letters in the SKU are the first of each word, digits are kept.
WITH v AS (
	SELECT s.n, s.code, s.eur, s.grams, c.colour, c.ci, z.zi,
	    split_part(z.size, ':', 1) AS size,
	    split_part(z.size, ':', 2)::numeric AS more
	FROM seed s,
	    regexp_split_to_table(s.colours, ' ')
	    WITH ORDINALITY AS c (colour, ci),
	    regexp_split_to_table(s.sizes, '(?<=:-?[0-9.]+) (?=[^ ])')
	    WITH ORDINALITY AS z (size, zi)
), made AS (
	INSERT INTO variant (product_id, sku, colour, size, place, stock,
	    restock_on, weight_g)
	SELECT n, 'TW-' || code || '-' || upper(left(colour, 3)) ||
	    CASE WHEN count(*) OVER (PARTITION BY n, colour) > 1
	    THEN '-' || zi ELSE '' END,
	    colour, size, (ci * 10 + zi)::int, q.stock,
	    CASE WHEN q.stock = 0
	    THEN current_date + 9 + (n % 12)::int END,
	    (grams * (1 + 0.4 * (zi - 1)))::int
	FROM v, LATERAL (SELECT CASE
	    WHEN (n * 7 + ci * 5 + zi * 3) % 17 = 0 THEN 0
	    WHEN (n * 5 + ci * 3 + zi) % 11 = 0 THEN 2
	    ELSE 6 + ((n * 13 + ci * 29 + zi * 7) % 60)::int END) AS q (stock)
	ORDER BY n, ci, zi
	RETURNING id, product_id, colour, size
)
INSERT INTO price (variant_id, currency, amount, was)
SELECT m.id, k.currency, round(k.rate * (v.eur + v.more) * k.cut, 2),
    CASE WHEN k.cut < 1 THEN round(k.rate * (v.eur + v.more), 2) END
FROM made m JOIN v ON v.n = m.product_id AND v.colour = m.colour
    AND v.size = m.size,
    LATERAL (SELECT c.currency, c.rate,
    CASE WHEN v.n % 9 = 4 THEN 0.80 ELSE 1.00 END
    FROM (VALUES ('EUR', 1.00), ('GBP', 0.86)) AS c (currency, rate))
    AS k (currency, rate, cut);

DROP TABLE seed;

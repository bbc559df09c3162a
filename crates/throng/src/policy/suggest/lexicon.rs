//! Words that names of columns are made of, in English, German, French, Spanish, Italian and Dutch, and what each says.
//!
//! A word stands here once, in the singular, as it is spelt with its accents; `words` knows other spellings. Words that
//! mean different things in two languages stand where the mistake costs less: with what is held back.

/// What a word says about the column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Says {
    /// It identifies a person by itself.
    Identifies,
    /// Whatever somebody wrote.
    Text,
    /// A street or a house.
    Street,
    /// An address, of which a part may be meant.
    Address,
    /// A name, of a person unless something else is named.
    Name,
    /// A person, or people that live together.
    Person,
    /// A number, a code, a key.
    Number,
    /// Something of a person that has a number.
    Thing,
    /// What many people share: a hospital, a shop, a product.
    Shared,
    /// How many.
    Count,
    /// What kind or state something has, rather than the thing.
    Kind,
    Age,
    Birth,
    Date,
    Place,
    Postcode,
    Coordinate,
    /// What people would not want known.
    Sensitive,
    /// What others may know.
    Known,
    /// Nothing.
    Little,
}

pub(super) static WORDS: &[(Says, &str)] = &[
    (Says::Identifies, IDENTIFIES),
    (Says::Text, TEXT),
    (Says::Street, STREET),
    (Says::Address, ADDRESS),
    (Says::Name, NAME),
    (Says::Person, PERSON),
    (Says::Number, NUMBER),
    (Says::Thing, THING),
    (Says::Shared, SHARED),
    (Says::Count, COUNT),
    (Says::Kind, KIND),
    (Says::Age, AGE),
    (Says::Birth, BIRTH),
    (Says::Date, DATE),
    (Says::Place, PLACE),
    (Says::Postcode, POSTCODE),
    (Says::Coordinate, COORDINATE),
    (Says::Sensitive, SENSITIVE),
    (Says::Known, KNOWN),
    (Says::Little, LITTLE),
];

const IDENTIFIES: &str = "\
    email mail courriel mél correo emailadresse mailadresse posta pec emailadres \
    phone telephone tel telefon fon teléfono tlf tfno tlfno telefoon téléphone tél telef phonenumber telno telnr \
    mobile mobil mobiltelefon handy cellphone móvil movil celular cellulare mobiel gsm mobilfunk festnetz rufnummer \
    durchwahl fax telefax télécopie faxnummer pager whatsapp telegram skype \
    firstname forename givenname middlename lastname surname familyname maidenname fullname nickname username \
    displayname loginname login lname fname mname screenname realname preferredname birthname \
    vorname nachname familienname zuname rufname geburtsname mädchenname spitzname benutzername nutzername anmeldename \
    prénom prenom patronyme nomfamille pseudo pseudonyme pseudonym surnom nomnaissance nomusage \
    apellido apellidos apodo primerapellido segundoapellido nombrepila \
    cognome nominativo soprannome \
    voornaam achternaam tussenvoegsel tussenvoegsels roepnaam voorl voorletter voorletters voorvoegsel meisjesnaam \
    geslachtsnaam familienaam gebruikersnaam bijnaam initial initials initialen initiales iniciales iniziali alias \
    ssn socialsecurity sozialversicherungsnummer sozialversicherung svnr sv svnummer nss nir sécu securitesociale \
    numerosecu seguridadsocial previdenzasociale nino nationalinsurance nhs nhsnumber npi mrn ehr emr chi \
    nationalid personalid identitycard idcard idnumber cpr personnummer pesel ahv ahvnr avs svnummer \
    steuernummer steuerid steueridentifikationsnummer steuernr stnr idnr tin taxid taxpayer taxnumber ustid \
    rentenversicherungsnummer rvnr krankenversicherungsnummer kvnr egk versicherungsnummer versicherungsnr \
    gesundheitskarte healthcard medicare medicaid cartevitale vitale ipp iep numfiscal spi \
    dni nif nie cif cédula cedula curp rfc nuhsa cip sip nhc tarjetasanitaria historiaclínica \
    codicefiscale fiscale fisc codfisc cf partitaiva piva tesserasanitaria cartaidentità \
    bsn burgerservicenummer sofinummer sofi rijksregister rijksregisternummer insz zorgnummer identiteitskaart \
    passport reisepass passnummer passnr passeport pasaporte passaporto paspoort personalausweis ausweis cni \
    carteidentité driverlicense driverslicense drivinglicence drivinglicense führerschein permisconduire patente \
    rijbewijs permisoconducir \
    matrikel matricule matricola matrícula \
    iban bankverbindung rib creditcard kreditkarte cartebancaire cartecrédit tarjetacrédito cartacredito cartadicredito cartedecrédit tarjetadecrédito cvv pan debitcard ktonr kontonr \
    kontonummer bankkonto bankaccount accountnumber rekeningnummer \
    plate licenseplate licenceplate numberplate regplate kennzeichen autokennzeichen kfzkennzeichen nummernschild \
    immatriculation placa targa kenteken vin fahrgestell fahrgestellnummer bastidor telaio chassis \
    imei imsi msisdn iccid mac macaddress udid idfa gaid adid advertisingid ip ipaddress ipv ipadresse adresseip \
    uuid guid cookie token fingerprint hash \
    url uri website homepage webpage webseite internetseite siteweb paginaweb sitoweb facebook twitter instagram \
    linkedin tiktok xing snapchat youtube handle avatar profileurl orcid \
    photo foto photograph lichtbild portrait signature unterschrift handtekening empreinte huella impronta \
    fingerabdruck vingerafdruck biometric biometrie voiceprint selfie \
    aktenzeichen geschäftszeichen kassenzeichen actenummer aktennummer az \
    password passwort passwd pwd kennwort contraseña motdepasse wachtwoord pin \
    氏名 名前 電話 電話番号 住所 メール 姓名 电话 地址 \
    landline fernsprecher téléfax rufnr telefonnr mobilnr handynr faxnr voicemail uhid mbi hicn aadhaar aadhar nric \
    cuit cuil nuss ppsn itin lanr lebenslangearztnummer efn vsnr rvnummer kvnummer nachn vorn zun nommarital nommari \
    nomépouse nomépoux nomusuel nomcomplet prénoms patronymique nombrecompleto nombrepropio ragionesocialepersona \
    nomecompleto volledigenaam inlognaam loginnaam aanspreeknaam overigenaam passbild passfoto profilbild \
    portraitfoto lichtbildausweis retrato fotografia fotografía pasfoto headshot mugshot faceid discord signal \
    wechat steamid gamertag mastodon threema bluesky gcid fbclid gclid clientip remoteip ipaddr hostname androidid \
    deviceuid appinstanceid firebaseid idfv ndc legajo nosologico nosológico cartanascita expedientenummer zorgpas \
    zorgpasnummer eidnummer insurancenumber krankenkassenkarte gesundheitsnummer healthnumber patientennr boletín \
    ine clavelector claveelector numelector elektronischeadresse internetadresse mailadr mailaddr adrmail numss \
    numerosecurite nosecu insnir matriculeins dicom studyinstanceuid seriesinstanceuid sopinstanceuid \
    fahrzeugidentnr fahrzeugidentifizierungsnummer fahrzeugident kfzzulassung zulassungsnummer plaqueimmat \
    carteséjour titreséjour titredeséjour aufenthaltstitel verblijfsvergunning permisosoggiorno permessosoggiorno \
    tie ahvn sozialversicherungsausweis versicherungsausweis sozialausweis geburtsurkunde birthcertificate \
    actedenaissance partidanacimiento deathcertificate sterbeurkunde actededécès visanumber visumnummer greencard \
    alienregistration smsnumber callerid dialednumber genome genomesequence retina iris voiceid gait kundenkarte \
    loyaltycard librarycard bibliotheksausweis \
    contocorrente cuentacorriente comptecourant girokonto labaccession steam accno bankacc \
    cipa ihi rut svn";

const TEXT: &str = "\
    note notes comment remark freetext freitext bemerkung anmerkung kommentar notiz commentaire remarque comentario \
    observación annotazione osservazione osservazioni opmerking notitie anamnese narrative letter brief description \
    beschreibung descripción descrizione beschrijving text memo message nachricht story \
    compterendu referto verslag toelichting arztbrief befundtext epikrise epicrise entlassbrief entlassungsbrief \
    dischargesummary clinicalnote report bericht rapport informe relazione relatório transcript wortlaut protokoll \
    verlauf verlaufseintrag detail details erläuterung begründung explanation feedback review answer openended \
    openanswer verbatim anotación apunte nota notas observations antécédentstexte motivation anliegen betreff asunto \
    oggetto onderwerp subjectline summary zusammenfassung résumé resumen riassunto samenvatting";

const STREET: &str = "\
    street streetname straße str strassenname hausnummer hausnr housenumber houseno apartment apt doorbell \
    rue avenue allée chemin voie impasse boulevard numérovoie calle avenida piso portal escalera vía viale civico \
    numerocivico straat straatnaam huisnummer huisnr pobox postfach boîtepostale postbus toevoeging huisletter \
    addressline adresszusatz wohnungsnummer wohnungsnr appartement appartamento stiege what3words \
    flat flatno flatnumber building buildingnumber gebäude gebäudenr bâtiment edificio gebouw doornumber türnummer \
    tür wohnstraße mailingstreet lane postbox apartado casella numvoie complémentadresse adressecomplément \
    unitnumber unitno hofname hausname housename plotnumber flurstück parcelle";

const ADDRESS: &str = "\
    address addr adr adresse anschrift wohnadresse meldeadresse dirección direccion domicilio domicile indirizzo recapito \
    adres woonadres huisadres direcciónpostal adressepostale postaladdress mailingaddress indirizzopostale postadresse \
    postadres";

const NAME: &str = "name nom nome nombre naam names nomi nombres namen \
    nm";

const PERSON: &str = "\
    person persona personne persoon individual individuo individu individuum patient patientin pat paciente pazienti \
    paziente patiënt subject subj participant participante partecipante deelnemer proband probandin versuchsperson \
    teilnehmer teilnehmerin respondent répondant interviewee befragter \
    customer cust client kunde kundin kd kdn klant cliente shopper buyer käufer acheteur comprador compratore koper \
    seller verkäufer \
    employee emp employé salarié empleado trabajador dipendente impiegato lavoratore mitarbeiter mitarbeiterin ma \
    arbeitnehmer arbeitnehmerin personal personnel personeel werknemer medewerker staff worker beschäftigter \
    member mitglied membre miembro socio membro lid adhérent afiliado user usr benutzer nutzer utilisateur usuario \
    utente gebruiker student studentin studierender étudiant estudiante studente alumno alumna alunno pupil schüler \
    schülerin élève leerling apprentice azubi insured versicherter versicherte versicherten versicherungsnehmer assuré \
    asegurado assicurato verzekerde policyholder policyowner holder inhaber titulaire titular intestatario houder \
    kontoinhaber karteninhaber cardholder accountholder \
    citizen bürger citoyen ciudadano cittadino burger resident einwohner bewohner habitant residente inwoner bewoner \
    owner eigentümer besitzer eigenaar propriétaire propietario proprietario tenant mieter locataire inquilino huurder \
    debtor schuldner débiteur deudor debitore creditor gläubiger borrower kreditnehmer emprunteur applicant \
    antragsteller bewerber demandeur solicitante richiedente aanvrager candidate kandidat candidat candidato \
    beneficiary begünstigter bénéficiaire beneficiario begunstigde voter wähler électeur donor spender donneur donante \
    donatore driver fahrer conducteur conductor conducente bestuurder passenger passagier passager pasajero passeggero \
    guest gast hôte huésped ospite doctor dr arzt ärztin hausarzt physician médecin médico medico dokter huisarts gp \
    nurse pfleger teacher lehrer enseignant profesor insegnante leraar \
    mother mutter mère madre moeder father vater père padre vader parent eltern guardian vormund tuteur tutor tutore \
    spouse ehepartner ehegatte ehefrau ehemann conjoint cónyuge coniuge echtgenoot partner wife husband \
    contact kontakt kontaktperson ansprechpartner contacto contatto contactpersoon angehöriger kin nextofkin caregiver \
    child kid baby newborn infant sibling twin proxy caller anrufer victim opfer victime suspect offender täter inmate \
    prisoner visitor besucher subscriber abonnent abonné suscriptor enrollee insuree household haushalt hh ménage hogar \
    nucleo huishouden family familie familia famiglia famille human soldier tourist reporter author sender empfänger \
    recipient absender payer payee signer signatory unterzeichner attorney lawyer anwalt witness zeuge referee player \
    spieler athlete agent dealer volunteer freiwilliger worker colleague kollege \
    investigator researcher prüfarzt prüfer consultant counselor counsellor therapist surgeon dentist zahnarzt \
    midwife hebamme pharmacist apotheker behandler behandelaar betreuer betreuerin mantelzorger verzorger \
    psychologist psychologe psychotherapeut caseworker socialworker sozialarbeiter sachbearbeiter sachbearbeiterin \
    bearbeiter berater gutachter richter clinician clinicien provider prescriber practitioner praticien specialist \
    spezialist operator operatore chirurg chirurgien soignant infirmier infirmière enfermero enfermera infermiere \
    verpleegkundige pflegekraft hausärztin zahnärztin allocataire ayantdroit souscripteur responsable inscrit \
    elector elettore tesserato electeur begleiter bezugsperson elternteil erziehungsberechtigter fürsorger mündel \
    pflegekind adoptivkind neugeborenes bambino figliolo neonato niño niña enfantné kind patienten cliënt pensionato \
    rentner pensioner retraité jubilado gepensioneerde soldat soldado militare häftling gefangener detenuto recluso \
    gevangene détenu betroffener betroffene geschädigter geschädigte zeugin beschuldigter angeklagter accusé \
    acusado imputato verdachte slachtoffer vittima víctima víctimas getuige témoin testigo testimone complainant \
    claimant plaintiff defendant kläger beklagter petitioner appellant heir erbe héritier heredero erede erfgenaam \
    executor mitbewohner roommate neighbour nachbar voisin vecino vicino buurman verwandter \
    familiare familielid fahrgast reisender traveler traveller voyageur viajero viaggiatore reiziger hotelgast \
    abonnee abbonato usuaria patiente empleada maestra docente dozent professor supervisor manager chef vorgesetzter \
    coach trainer interviewer enumerator encuestador enquêteur rilevatore fieldworker proxyrespondent referrer \
    überweiser zuweiser einsender requester auftraggeber besteller nanny mentor sponsor pledger darlehensnehmer \
    mutuatario prestatario kredietnemer garant bürge fiador garante borgsteller lessee lessor vermieter landlord \
    bailleur arrendador locatore verhuurder \
    assistito assistita lehrkraft carer caregiver";

const NUMBER: &str = "\
    id ids ident identifier identifikator identifikation identification identifiant identificador identificativo \
    identificatie identificación no nr num number nummer numéro numero número nro nbr n código codigo codice cod code \
    kode key schlüssel clé clave chiave sleutel ref reference referenz référence referencia riferimento referentie \
    kennung kennziffer kennnummer kennzahl kz kürzel index idx pk fk uid sn oid rid pid cid eid sid tid ziffer nummern \
    番号 编号 \
    recno recid seqno srno serialno lfdnr lfdno registernr filename path pfad dateiname nomfichier kenmerk \
    merkmal kennzeichnung aktennr volgnummer  identnr identnummer ordnungsnummer laufnummer";

const THING: &str = "\
    account acct konto kto compte cuenta conto rekening bankrekening card karte carte tarjeta carta kaart pass \
    contract vertrag contrat contrato contratto policy police policen poliza póliza polizza polis invoice rechnung \
    facture factura fattura factuur order bestellung auftrag commande pedido ordine bestelling case fall cas caso casus \
    zaak file akte dossier expediente pratica fascicolo cartella record datensatz row zeile line seq sequence lfd \
    laufende visit besuch visite visita bezoek consultation konsultation encounter episode stay aufenthalt séjour estancia ricovero \
    opname admission aufnahme claim schaden sinistre siniestro sinistro schade ticket transaction transaktion \
    transacción transazione transactie booking buchung réservation reserva prenotazione boeking reservation session \
    sitzung sesión sample probe échantillon muestra campione monster specimen prescription rezept ordonnance receta \
    ricetta recept device gerät geräte appareil dispositivo apparaat toestel serial serien série serie seriale \
    seriennummer vehicle fahrzeug véhicule vehículo veicolo voertuig car auto voiture coche license licence lizenz \
    licencia licenza vergunning permit permis permiso permesso document dokument documento parcel paket colis pacco \
    tracking application antrag solicitud domanda aanvraag accession study studie étude estudio studio implant implantat \
    pacemaker herzschrittmacher survey umfrage response antwort questionnaire fragebogen form formular barcode strichcode \
    tag chip rfid tube scan requisition referral überweisung vorgang log message nachricht call anruf payment zahlung \
    paiement pago pagamento betaling receipt beleg quittung mandat mandate membership mitgliedschaft enrollment \
    registration register registrierung registro inscripción inscription immatrikulation versicherung insurance \
    assurance seguro assicurazione verzekering security journal historia history clinique medical medizinische cell \
    identity identität identité identidad identità identiteit tax steuer fiscal impôt tessera relatie beneficio vnr \
    national nationale nacional nazionale rezeptur auftrags vers krankenvers sozialvers rentenvers \
    chart certificate cert certificat certificado certificato certificaat urkunde bescheinigung attest attestation \
    visum enrolment roll bibliothek flyer docket kit biobank biobanque image picture bild imagen \
    immagine afbeelding audio video recording aufzeichnung enregistrement grabación registrazione opnamebestand \
    dicom röntgen xray radiographie radiografía radiografia meter zähler compteur contador contatore \
    prescripción stamm versicherungsschein schein vertragskonto sendung envoi envío spedizione zending prélèvement \
    prelievo extracción afname blutprobe personalakte krankenakte patientenakte gesundheitsakte krankenblatt \
    karteikarte kartei dossierpatient doc docid corrente cuentacorriente bankacc acc kontokorrent girokonto sparbuch \
    livret libreta libretto spaarrekening depot dépôt depósito deposito locker schließfach tresor afiliación \
    adhésion adesione aansluiting lidmaatschap abonnement abono abbonamento subscription connexion \
    connection verbindung conexión connessione verbinding \
    histclínica clínica electoral électoral elettorale pnr bordkarte \
    gefängnis haftanstalt \
    rechtszaak alien ausländerakte aufenthaltserlaubnis \
    bewilligung autorisation autorización autorizzazione genehmigung toestemmingsnummer badge carnet carné pasje \
    phonebook handset handgerät sim simkarte simcard tarjetasim router modem sensor tracker wearable glucometer \
    hearingaid hörgerät audífono prothese prosthesis prótesis protesi stent aligner bon kassenbon rechnungs bonnr \
    einzahlung überweisungsnr transfer giro cheque scheck chèque assegno lottery ticketnr \
    bordereau pedimento mandato sepamandat mandats lastschrift domiciliation domiciliación incasso assay \
    aliquot vial röhrchen objektträger deklaration declaration declaración \
    dichiarazione aangifte steuererklärung steuerbescheid bescheid opportunity prospect interaction \
    contactid ticketid chat conversation tweet asylantrag \
    asyldossier immigrationfile naturalization einbürgerung \
    hist access zugang library plaque \
    sanitario sanitaria bancaria bancario bancaire";

const SHARED: &str = "\
    hospital krankenhaus klinik clinic hôpital ospedale ziekenhuis ward station abteilung department dept abt reparto \
    servicio afdeling service unit einheit school schule école escuela scuola university universität université \
    universidad università universiteit class klasse classe clase branch filiale zweigstelle agence sucursal store shop \
    laden magasin tienda negozio winkel company firma unternehmen entreprise empresa azienda bedrijf employer \
    arbeitgeber employeur empleador werkgever bank banque banco insurer kasse krankenkasse mutuelle team site zentrum \
    center centre centro centrum product produkt produit producto prodotto article artikel artículo articolo item plan \
    tarif tariff currency währung devise moneda valuta event supplier vendor lieferant fournisseur proveedor fornitore \
    leverancier facility organisation organization organización organizzazione institution einrichtung brand marke \
    marque marca merk model modell modèle modelo modello course kurs cours curso corso project projekt projet proyecto \
    progetto campaign kampagne channel kanal industry branche sector sektor secteur sezione section business line \
    bic blz swift bankleitzahl sku ean warehouse lager fund program programm sport stock \
    bloodbank practice praxis pharmacy apotheke pharmacie farmacia apotheek subject fach room zimmer";

const COUNT: &str = "\
    anzahl anz aantal nb nbre count cnt zahl cantidad quantity menge quantité quantità hoeveelheid total summe total \
    numberof noof numof howmany combien sum average mean median avg max min percent prozent rate share amount betrag \
    montant importe importo bedrag";

const KIND: &str = "\
    type typ tipo art soort category kategorie catégorie categoría categoria status statut stato zustand flag has hat \
    is ist opt optin optout consent einwilligung consentement consentimiento consenso toestemming verified verifiziert \
    vérifié valid gültig available vorhanden present anbieter fournisseur domain preferred reason grund motif \
    motivo reden days dauer duration durée duración durata duur length länge longueur size größe score level stufe \
    niveau nivel livello active aktiv actif activo attivo yes ja class klasse classe clase schaal skala scale échelle escala scala group gruppe groupe grupo gruppo groep groupe \
    expiry expired format version bracket band range quality missing changed vorwahl areacode prefix präfix \
    indicatif prefijo prefisso kengetal netnummer dialcode";

const AGE: &str = "\
    age ages alter lebensalter altersgruppe altersklasse agegroup âge ageband edad età eta leeftijd leeftijdsgroep idade \
    ageyears altersjahr agecat agegrp 年齢 年龄";

const BIRTH: &str = "\
    birth born birthday birthdate birthyear birthmonth bday bdate bdat dob yob mob dateofbirth geburt geburts geboren geb gebdat \
    gebdatum gebjahr gebj geburtsdatum geburtstag geburtsjahr geburtsmonat naissance naiss né née ddn dnaiss datenaiss \
    nacimiento nac nacido fnac fecnac fechanac nascita nato nata ddn datanascita nascimento geboorte geboortedatum \
    geboortejaar gebdat 生年月日 出生日期";

const DATE: &str = "\
    date datum dat fecha data jour giorno día tag day month monat mois mes mese maand year jahr année año anno jaar yr \
    time zeit heure hora ora tijd uhrzeit timestamp zeitpunkt zeitstempel datetime dt ts start beginn begin ende end \
    début fin inicio inizio fine einde seit since desde depuis dal sinds created updated modified erstellt geändert \
    when week woche semaine semana settimana quarter quartal trimestre hour stunde minute termin appointment rdv cita \
    appuntamento afspraak deadline fällig due anniversary";

const PLACE: &str = "\
    city town village stadt ort wohnort ville commune ciudad pueblo localidad localité municipio città comune stad plaats \
    woonplaats gemeente dorp municipality gemeinde county landkreis kreis state bundesland staat état estado province \
    provincia provincie provinz département departamento departement dipartimento region région región regione regio \
    district bezirk quartier barrio quartiere wijk buurt neighborhood neighbourhood stadtteil ortsteil stadtbezirk \
    frazione country land pays país paese nation nación nazione nationality nationalität staatsangehörigkeit \
    staatsbürgerschaft nationalité nacionalidad nazionalità nationaliteit cittadinanza ciudadanía citizenship \
    citoyenneté burgerschap herkunft herkunftsland origin origine origen herkomst birthplace geburtsort geburtsland \
    lieu lugar luogo location standort area areal gebiet territory \
    zone zona canton kanton arrondissement parish borough census tract block nuts ags insee islet suburb vorort \
    gemeindeschlüssel gemeindekennziffer hometown heimatort homeland settlement 都道府県 国籍";

const POSTCODE: &str = "\
    zip zipcode postcode postal postalcode plz postleitzahl codepostal cp códigopostal codigopostal cap cep pc postnr \
    postnummer codicepostale codepost 郵便番号 邮编";

const COORDINATE: &str = "\
    lat long latitude latitud latitudine breitengrad breedtegraad lon lng longitude longitud longitudine längengrad \
    lengtegraad coordinate coord coords koordinate coordonnée coordenada coordinata coördinaat gps geo geom geometry \
    wkt geopoint geolocation xcoord ycoord rechtswert hochwert easting northing utm geohash";

const SENSITIVE: &str = "\
    disease illness sickness diagnosis diagnoses diagnose diagnostic dx icd condition comorbidity comorbidities symptom \
    syndrome disorder ailment complaint infection injury medication medicine drug treatment therapy surgery procedure \
    operation allergy vaccination vaccine dose dosage prescribed hiv aids hepatitis std cancer tumor tumour oncology \
    stage pregnancy pregnant abortion mental psychiatric psychiatrisch psychiatrische psychiatrique psichiatrica psiquiátrica depression suicide diabetes diabetic hypertension stroke asthma \
    epilepsy covid genetic genotype mutation dna genome blood hba glucose cholesterol lab labor laboratory labresult \
    result finding biopsy pathology \
    krankheit erkrankung diagnoseschlüssel hauptdiagnose nebendiagnose symptome befund medikament arzneimittel wirkstoff \
    arznei behandlung therapie allergie impfung impfstoff dosis schwangerschaft schwanger krebs blutgruppe blutdruck \
    blutzucker laborwert psychisch behinderung schwerbehinderung pflegegrad pflegestufe verletzung sucht operationen \
    maladie diagnostique affection pathologie médicament traitement thérapie vaccin grossesse enceinte handicap \
    invalidité cancer groupe sanguin antécédents chirurgie toxicomanie ordonnances \
    enfermedad diagnóstico dolencia medicamento fármaco tratamiento terapia alergia vacuna embarazo embarazada \
    discapacidad cáncer sangre síntoma cirugía adicción \
    malattia diagnosi patologia farmaco medicinale trattamento allergia vaccino gravidanza incinta disabilità invalidità \
    tumore sangue sanguigno sintomo esenzione intervento dipendenza \
    ziekte aandoening diagnosecode medicijn medicatie geneesmiddel behandeling allergie vaccinatie zwangerschap zwanger handicap \
    beperking kanker bloedgroep verslaving klacht \
    salary income wage earnings pay bonus pension revenue wealth debt loan credit mortgage balance savings expenditure \
    benefits welfare bankruptcy creditworthiness solvency rent fortune networth \
    gehalt einkommen lohn verdienst rente vermögen schulden darlehen kredit hypothek saldo kontostand sozialhilfe \
    bonität schufa insolvenz miete haushaltseinkommen bruttolohn nettolohn brutto netto \
    salaire revenu dette prêt crédit hypothèque solde patrimoine retraite épargne loyer traitement \
    salario sueldo ingreso deuda préstamo crédito hipoteca patrimonio pensión ahorro nómina renta \
    stipendio reddito retribuzione debito prestito mutuo pensione risparmio affitto \
    salaris inkomen loon schuld lening krediet hypotheek vermogen pensioen spaargeld uitkering huur \
    religion religious faith belief church denomination konfession glaube kirche kirchensteuer bekenntnis religiosité \
    confession culte religión religiosa creencia fe confesión religione fede credo religie geloof geloofsovertuiging \
    kerkgenootschap gezindte political politics politik politisch parti partei party partido partito partij politique \
    politica política politieke vote ballot wahl union gewerkschaft syndicat sindicato sindacato sindical syndical sindacale vakbond \
    sexuality sexual orientation orientierung orientación orientamento oriëntatie geaardheid sexualité sexualidad \
    sessualità transgender lgbt homosexual sexuelle sexuell sexuele sessuale seksualiteit seksueel seksuele \
    crime criminal conviction offence offense arrest charge sentence felony verdict vorstrafe vorstrafen straftat delikt urteil haft \
    condamnation infraction délit casier antecedentes delito condena arresto reato condanna misdrijf veroordeling \
    strafblad overtreding delict disability disabled handicapped addiction alcohol alkohol alcool smoking smoker \
    raucher rauchstatus tabac fumeur fumador fumatore roker roken tobacco substance abuse violence asylum asyl \
    psychiatrie therapeut sanction fraud complication outcome mortality death deceased todesursache cause \
    violence verdacht laborbefund 病名 診断 疾患 給与 年収 収入 宗教 疾病 诊断 收入 工资 \
    medikation entlassungsmedikation medicación medicazione médication viralload schwerbehindert schwerbehindertengrad \
    suchtanamnese \
    atc ndc pzn rxnorm snomed loinc drg hcpcs cpt ops \
    vorerkrankung grunderkrankung begleiterkrankung comorbilidad comorbidité comorbidità comorbiditeit chronic \
    chronisch chronique crónica cronica chronische nettoverdienst bruttoverdienst psychotropic psychopharmaka \
    antidepressant opioid ziektebeeld maandinkomen jaarinkomen jahreseinkommen monatseinkommen krankengeld \
    arbeitsunfähigkeit krankmeldung sickleave arrêtmaladie bajamédica ziekteverzuim schwangerschaftswoche \
    gestational miscarriage fehlgeburt  kinderwunsch fertility ivf contraception verhütung hivstatus viral \
    serostatus hepatite epatite tuberculosis tuberkulose tbc syphilis gonorrhea schizophrenia schizophrenie bipolar \
    anxiety angst trauma ptsd adhd adhs autism autismus dementia demenz alzheimer parkinson sozialhilfeempfänger \
    bürgergeld hartz arbeitslosengeld unemployment chômage desempleo disoccupazione werkloosheid scoring \
    bonitätsscore überschuldung surendettement insolvency garnishment pfändung saisie  pignoramento \
    beslaglegging";

const KNOWN: &str = "\
    bmi residence résidence residencia residenza wohnsitz     sex gender geschlecht sexe genre sexo género sesso genere geslacht kunne \
    race ethnicity ethnic ethnie ethnische raza etnia razza etnie ras minority hautfarbe \
    marital married familienstand zivilstand civil maritalstatus matrimonial situationfamiliale estadocivil statocivile \
    burgerlijke staatcivil huwelijk ehestand widowed divorced relationship beziehung verwandtschaft \
    education schooling degree bildung ausbildung schulabschluss bildungsstand bildungsabschluss abschluss studium \
    éducation diplôme études formation educación estudios escolaridad titulación istruzione scolarità titolo onderwijs \
    opleiding opleidingsniveau diploma qualification grade literacy \
    occupation job profession career beruf tätigkeit berufsgruppe stellung position métier emploi poste ocupación \
    profesión trabajo empleo puesto professione lavoro occupazione mestiere impiego beroep functie werk baan workclass \
    employment beschäftigung erwerbsstatus emploiactuel trade title titel titre título anrede salutation civilité \
    tratamiento aanhef rank dienstgrad \
    language sprache muttersprache langue idioma lengua lingua taal moedertaal tongue native \
    children kids kinder kinderzahl enfant enfants hijo hijos figlio figli kinderen kinderaantal siblings geschwister \
    dependents dependants householdsize familysize haushaltsgröße personen \
    veteran military militär immigrant migrant migration migrationshintergrund immigration foreign ausländer visa \
    height körpergröße größe taille estatura altura statura altezza lengte weight gewicht poids peso bodyweight \
    körpergewicht eye eyes augenfarbe hair haarfarbe haar hand tattoo shoe schuhgröße clothing \
    house ownership wohnform wohnung housing logement vivienda alloggio woning dwelling rooms rural urban \
    vehicles cars travel commute pendler nationality shift seniority tenure betriebszugehörigkeit hire hired hiring \
    eintritt austritt einstellung discharge entlassung sortie entrée alta ingresohospital dimissione ontslag departure \
    arrival ankunft arrivée llegada arrivo aankomst einweisung entry exit joining joined leaving sterbedatum todesdatum \
    décès defunción fallecimiento decesso overlijden overlijdensdatum died sterbe tod hospitalization hospitalisation \
    hospitalización operationsdatum purchase kauf achat compra acquisto aankoop wedding hochzeit marriage mariage \
    matrimonio boda retirement hobby hobbies interests nationalorigin \
    性別 職業 学歴 性别 职业 \
    familienstd familienst fstand civilpartnership partnership lebensform geschwisterzahl wohnlage einzugsjahr umzug \
    umzugsdatum erwerbstätigkeit erwerbstätig arbeitszeit wochenarbeitszeit teilzeit vollzeit parttime fulltime";

const LITTLE: &str = "\
    of the de del della dello delle di da du des der die das den dem d l la le el les los van het een the a an und and \
    et y e en ed oder or ou o to at by for für pour para per con with mit in im am bei von zu zum su sur tbl col fld field \
    feld champ campo veld var val value valor wert valeur valore waarde f v x p s t c str int txt new old alt neu raw \
    clean src orig original main primary secondary first second last current home private privat work business \
    dienstlich perso personale aktuell own \
    complete completo completa complet complète vollständig volledig full regional regionale regionaal régional \
    maiden given";
